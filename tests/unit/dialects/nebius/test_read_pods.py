"""What is read of any pods: where they run, their containers, their volumes."""

from shoal.model.jail import Claimed, Given, Mount

from .objects import make, nodes
from .readings import the, understood


def test_pods_run_where_their_filter_says():
    affinity = {"nodeAffinity": {"x": []}}
    found = {
        "name": "any",
        "affinity": affinity,
        "tolerations": [{"operator": "Exists"}],
        "nodeSelector": {"a": "b"},
    }
    spec = the(k8sNodeFilters=[found]).cluster.controller.part.pods.spec
    assert spec == {
        "affinity": affinity,
        "tolerations": [{"operator": "Exists"}],
        "nodeSelector": {"a": "b"},
    }


def test_of_two_filters_with_one_name_the_first_counts():
    found = [{"name": "any", "nodeSelector": {"a": "1"}}, {"name": "any"}]
    assert the(k8sNodeFilters=found).gate.part.pods.spec == {"nodeSelector": {"a": "1"}}


def test_secrets_that_images_are_pulled_with_are_those_of_all_containers_each_once():
    asked = [{"name": "a"}, {"name": ""}, {"name": "b"}]
    made = the(
        **nodes(
            controller={
                "slurmctld": {"imagePullSecrets": asked},
                "munge": {"imagePullSecrets": [{"name": "b"}, {"name": "c"}]},
            }
        )
    )
    spec = made.cluster.controller.part.pods.spec
    assert spec["imagePullSecrets"] == [{"name": "a"}, {"name": "b"}, {"name": "c"}]


def test_a_word_on_user_namespaces_is_handed_on_and_silence_is_not():
    def spec(**asked):
        return the(**nodes(login=asked)).gate.part.pods.spec

    assert spec() == {}
    assert spec(hostUsers=False) == {"hostUsers": False}
    assert spec(hostUsers=True) == {"hostUsers": True}


def test_a_container_asks_for_what_the_user_says_and_nothing_else_is_said_of_it():
    made = the(**nodes(rest={"rest": {"resources": {"cpu": 1}, "procMount": "Unmasked"}}))
    assert made.rest.part.pods.containers["rest"] == {
        "image": "slurmrestd",
        "imagePullPolicy": "IfNotPresent",
        "resources": {"requests": {"cpu": 1}},
        "securityContext": {"appArmorProfile": {"type": "Unconfined"}, "procMount": "Unmasked"},
    }


def test_what_is_written_on_the_object_itself_is_not_handed_on_to_pods():
    obj = make("SlurmCluster")
    plain = understood(obj)
    obj["metadata"] |= {"labels": {"helm.sh/chart": "x-1"}, "annotations": {"a": "b"}}
    assert understood(obj) == plain


def test_mounts_are_of_volumes_under_names_or_of_claims_for_each_pod():
    claim = {"accessModes": ["ReadWriteOnce"]}
    asked = [
        {"name": "a", "mountPath": "/a", "volumeSourceName": "spool", "subPath": "s"},
        {"name": "b", "mountPath": "/b", "volumeClaimTemplateSpec": claim, "readOnly": True},
    ]
    made = the(**nodes(login={"volumes": {"jailSubMounts": asked}})).gate.fittings.submounts
    spool = Given({"persistentVolumeClaim": {"claimName": "spool"}})
    assert made == (
        Mount("a", "/a", spool, "s"),
        Mount("b", "/b", Claimed(claim), read_only=True),
    )
