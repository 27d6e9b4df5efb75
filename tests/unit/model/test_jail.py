from shoal.model.jail import Ssh


def test_keys_of_root_are_one_a_line():
    ssh = Ssh("host", "root", public_keys=("ssh-rsa A a\n", " ", "ssh-rsa B b"))
    assert ssh.authorized_keys == "ssh-rsa A a\nssh-rsa B b\n"
    assert Ssh("host", "root").authorized_keys == ""
