from shoal.model.jail import Claimed, Fittings, Given, Mount
from shoal.model.jailed import JailedWorkers, feature_name

GIVEN = Given({"emptyDir": {}})


def test_what_is_claimed_for_each_worker_has_a_template():
    fittings = Fittings(
        GIVEN,
        submounts=(Mount("local", "/mnt/local", Claimed({"a": 1})), Mount("nfs", "/mnt/x", GIVEN)),
        mounts=(Mount("cache", "/cache", Claimed({"b": 2})),),
    )
    workers = JailedWorkers(fittings, Claimed({"c": 3}))
    assert workers.claims == (
        {"metadata": {"name": "worker-spool"}, "spec": {"c": 3}},
        {"metadata": {"name": "local"}, "spec": {"a": 1}},
        {"metadata": {"name": "cache"}, "spec": {"b": 2}},
    )


def test_a_volume_that_is_there_has_none():
    assert JailedWorkers(Fittings(GIVEN), GIVEN).claims == ()


def test_a_feature_is_the_end_of_a_variables_name_too():
    assert feature_name("gpu-a.b") == "gpu_a_b"
    assert feature_name(feature_name("gpu-a.b")) == "gpu_a_b"
