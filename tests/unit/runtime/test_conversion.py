import copy
import json

import pytest

from shoal.runtime.admission import ReviewError
from shoal.runtime.conversion import conversion


def boat(name, version="v1"):
    return {
        "apiVersion": f"sea.example/{version}",
        "kind": "Boat",
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": f"uid-{name}",
            "labels": {"a": "b"},
            "ownerReferences": [{"uid": "o"}],
        },
        "spec": {"masts": 1},
    }


def asked(*objects, wanted="v2", convert, version="v1"):
    review = {
        "apiVersion": f"apiextensions.k8s.io/{version}",
        "kind": "ConversionReview",
        "request": {
            "uid": "u1",
            "desiredAPIVersion": f"sea.example/{wanted}",
            "objects": list(objects),
        },
    }
    return json.loads(conversion(json.dumps(review).encode(), convert))["response"]


def rename(obj, version):
    return {**obj, "spec": {"poles": obj["spec"]["masts"], "for": version}}


def test_every_object_is_converted_in_the_order_of_the_question():
    made = asked(boat("a"), boat("b"), convert=rename)
    assert made["uid"] == "u1"
    assert made["result"] == {"status": "Success"}
    assert [o["metadata"]["name"] for o in made["convertedObjects"]] == ["a", "b"]
    assert made["convertedObjects"][0]["spec"] == {"poles": 1, "for": "v2"}
    assert made["convertedObjects"][0]["apiVersion"] == "sea.example/v2"


def test_an_object_that_has_the_version_already_is_left_alone():
    made = asked(boat("a", "v2"), convert=lambda *_: pytest.fail("called"))
    assert made["convertedObjects"] == [boat("a", "v2")]


def test_metadata_stay_as_they_were():
    def spoil(obj, version):
        obj["metadata"].update(uid="other", generation=7)
        del obj["metadata"]["ownerReferences"]
        return {"kind": "Ship", "metadata": obj["metadata"], "spec": {}}

    made = asked(boat("a"), convert=spoil)["convertedObjects"][0]
    assert made["metadata"] == boat("a")["metadata"]
    assert made["kind"] == "Boat"


def test_metadata_that_a_handler_leaves_out_stay():
    made = asked(boat("a"), convert=lambda *_: {"spec": {}})["convertedObjects"][0]
    assert made["metadata"] == boat("a")["metadata"]


def test_a_handler_may_keep_what_a_version_has_no_field_for_in_annotations():
    def convert(obj, version):
        changed = copy.deepcopy(obj)
        changed["metadata"]["annotations"] = {"masts": "1"}
        return changed

    made = asked(boat("a"), convert=convert)["convertedObjects"][0]
    assert made["metadata"]["annotations"] == {"masts": "1"}
    assert made["metadata"]["labels"] == {"a": "b"}


def test_one_that_fails_fails_all_and_is_named():
    def convert(obj, version):
        if obj["metadata"]["name"] == "b":
            raise ValueError("two masts at most")
        return rename(obj, version)

    made = asked(boat("a"), boat("b"), convert=convert)
    assert "convertedObjects" not in made
    assert made["result"] == {
        "status": "Failure",
        "message": "Boat ns/b from sea.example/v1 to sea.example/v2: ValueError: two masts at most",
    }


def test_what_is_no_review_is_refused():
    with pytest.raises(ReviewError, match="no ConversionReview of v1"):
        asked(boat("a"), convert=rename, version="v1beta1")
    with pytest.raises(ReviewError, match="no ConversionReview"):
        conversion(b"{}", rename)
