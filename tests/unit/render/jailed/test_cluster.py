from dataclasses import replace

from shoal.render.jailed import cluster

from .worlds import make_jail


def data(jail):
    return {obj["metadata"]["name"]: obj["data"] for obj in cluster.objects(jail)}


def test_root_logs_in_with_the_keys_that_the_user_lists():
    jail = make_jail()
    jail = replace(jail, ssh=replace(jail.ssh, public_keys=(" ssh-rsa A a ", "", "ssh-rsa B b")))
    assert data(jail)["one-ssh-root-keys"] == {"authorized_keys": "ssh-rsa A a\nssh-rsa B b\n"}


def test_what_several_parts_mount_is_made_once():
    assert sorted(data(make_jail())) == [
        "one-ssh-configs-worker",
        "one-ssh-root-keys",
        "one-supervisord",
        "one-sysctl",
    ]


def test_a_profile_is_part_of_the_cluster():
    kinds = [obj["kind"] for obj in cluster.objects(make_jail(app_armor="x"))]
    assert kinds.count("AppArmorProfile") == 1
