import configparser

from shoal.render.jailed import ssh_conf


def keywords(port=22):
    lines = ssh_conf.sshd_config(port).split("\nMatch ")[0].splitlines()
    return dict(line.split(" ", 1) for line in lines if line)


def test_whoever_logs_in_is_in_the_jail():
    assert keywords()["ChrootDirectory"] == "/mnt/jail"


def test_nobody_logs_in_with_a_password():
    assert keywords()["PasswordAuthentication"] == "no"


def test_sshd_listens_where_the_user_wants():
    assert keywords(2222)["Port"] == "2222"


def test_root_has_the_keys_of_the_cluster_and_those_of_the_jail():
    paths = "/root/.ssh/authorized_keys /mnt/jail/root/.ssh/authorized_keys"
    assert f"Match User root\n    AuthorizedKeysFile {paths}\n" in ssh_conf.sshd_config(22)


def test_slurmd_starts_before_sshd_and_both_come_back():
    found = configparser.ConfigParser()
    found.read_string(ssh_conf.supervisord_conf())
    assert found["supervisord"]["nodaemon"] == "true"
    slurmd, sshd = found["program:slurmd"], found["program:sshd"]
    assert int(slurmd["priority"]) < int(sshd["priority"])
    assert slurmd["command"] == "/opt/bin/slurm/slurmd_entrypoint.sh"
    assert {slurmd["autorestart"], sshd["autorestart"]} == {"true"}
