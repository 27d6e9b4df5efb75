from shoal.kube.findings import Doubtful, Known, Unknown, Verdict, Wrong, created, updated
from shoal.kube.kinds import CONFIG_MAP, SECRET

BAD, WORSE, ODD = Wrong("a", "is bad"), Wrong("b", "is worse"), Doubtful("c", "is odd")


def config_map(name, namespace="prod"):
    return {"kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}}


def test_each_finding_is_said_once_and_in_order():
    verdict = created([BAD, ODD, WORSE, BAD, ODD])
    assert verdict == Verdict((BAD, WORSE), ("c: is odd",))
    assert verdict.message == "a: is bad; b: is worse"


def test_what_was_wrong_before_is_a_warning():
    assert updated([BAD, ODD], [BAD], []) == Verdict((), ("a: is bad", "c: is odd"))


def test_what_is_wrong_now_and_what_cannot_be_changed_stop_a_change():
    assert updated([BAD], [], [WORSE]).errors == (BAD, WORSE)


def test_an_object_is_missing_only_if_all_of_its_kind_are_known():
    ask = Known((config_map("a"), config_map("a", "other")), frozenset({CONFIG_MAP}))
    assert ask.find(CONFIG_MAP, "prod", "a") == config_map("a")
    assert ask.find(CONFIG_MAP, "prod", "b") is None
    assert ask.find(SECRET, "prod", "b") is Unknown.UNKNOWN
    assert ask.every(CONFIG_MAP, "other") == [config_map("a", "other")]
