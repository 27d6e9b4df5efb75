import pytest

from shoal.render.ssh_conf import LOGIN, WORKER, authorized_keys, sshd_config


def words(text):
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_people_log_in_through_pam_and_copy_files():
    for ours in (LOGIN, WORKER):
        made = words(sshd_config(ours, ""))
        assert {"UsePAM yes", "Subsystem sftp internal-sftp"} <= set(made)


def test_a_keyword_of_the_users_takes_the_place_of_ours():
    """Of a keyword sshd takes the first line, and two of one Subsystem it does not take at all."""
    extra = "x11forwarding no\nSubsystem=sftp /usr/lib/sftp-server"
    made = words(sshd_config(LOGIN, extra))
    assert [line for line in made if line.lower().startswith("x11")] == ["x11forwarding no"]
    assert [line for line in made if line.startswith("Subsystem")] == [
        "Subsystem=sftp /usr/lib/sftp-server"
    ]


def test_a_keyword_within_a_match_does_not():
    extra = "Match User root\n  X11Forwarding no"
    assert "X11Forwarding yes" in words(sshd_config(LOGIN, extra))


@pytest.mark.parametrize("extra", ["MaxStartups 10", "MaxStartups 10\n"])
def test_the_last_line_ends(extra):
    assert sshd_config(LOGIN, extra).endswith("MaxStartups 10\n")


def test_root_has_the_keys_that_the_user_gave_and_no_other():
    assert words(authorized_keys("ssh-rsa a\nssh-rsa b")) == ["ssh-rsa a", "ssh-rsa b"]
    assert words(authorized_keys("")) == []
