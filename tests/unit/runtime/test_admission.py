import base64
import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.runtime.admission import (
    Allowed,
    Cause,
    Denied,
    Review,
    ReviewError,
    mutation,
    patch,
    validation,
)

OBJECT = {"apiVersion": "sea/v1", "kind": "Boat", "metadata": {"name": "b"}, "spec": {"n": 1}}


def body(version="v1", **request):
    """Return an AdmissionReview as the API server sends it."""
    given = {
        "uid": "u1",
        "kind": {"group": "sea", "version": "v1", "kind": "Boat"},
        "resource": {"group": "sea", "version": "v1", "resource": "boats"},
        "name": "b",
        "namespace": "ns",
        "operation": "CREATE",
        "userInfo": {"username": "ann", "groups": ["sailors"], "extra": {"a": ["b"]}},
        "object": OBJECT,
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions"},
    }
    review = {
        "apiVersion": f"admission.k8s.io/{version}",
        "kind": "AdmissionReview",
        "request": {**given, **request},
    }
    return json.dumps(review).encode()


def asked(**request):
    """Return what a handler is given."""
    seen = []

    def validate(review):
        seen.append(review)
        return Allowed()

    validation(body(**request), validate)
    return seen[0]


def response(made):
    return json.loads(made)["response"]


def applied(before, changes):
    """Apply a JSON patch."""
    done = copy.deepcopy(before)
    for change in changes:
        *way, last = [
            part.replace("~1", "/").replace("~0", "~") for part in change["path"].split("/")[1:]
        ]
        place = done
        for part in way:
            place = place[part]
        if change["op"] == "remove":
            del place[last]
        else:
            assert (last in place) is (change["op"] == "replace")
            place[last] = change["value"]
    return done


def test_a_handler_sees_the_object_and_who_writes_it():
    assert asked() == Review(
        operation="CREATE",
        object=OBJECT,
        old={},
        namespace="ns",
        name="b",
        user="ann",
        groups=("sailors",),
    )


def test_a_deletion_has_only_the_object_that_was():
    review = asked(operation="DELETE", object=None, oldObject=OBJECT)
    assert (review.object, review.old) == ({}, OBJECT)


def test_a_handler_can_tell_a_dry_run_and_a_subresource():
    review = asked(dryRun=True, subResource="scale")
    assert (review.dry_run, review.subresource) == (True, "scale")


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_the_answer_has_the_version_and_the_uid_of_the_question(version):
    made = json.loads(validation(body(version), lambda _: Allowed()))
    assert made == {
        "apiVersion": f"admission.k8s.io/{version}",
        "kind": "AdmissionReview",
        "response": {"uid": "u1", "allowed": True},
    }


def test_warnings_reach_the_user():
    made = response(validation(body(), lambda _: Allowed(("old field", "older field"))))
    assert made == {"uid": "u1", "allowed": True, "warnings": ["old field", "older field"]}


def test_a_denial_names_the_fields():
    denied = Denied("n is wrong", (Cause("spec.n", "must be even"),))
    assert response(validation(body(), lambda _: denied)) == {
        "uid": "u1",
        "allowed": False,
        "status": {
            "status": "Failure",
            "message": "n is wrong",
            "reason": "Invalid",
            "code": 422,
            "details": {
                "causes": [
                    {"reason": "FieldValueInvalid", "message": "must be even", "field": "spec.n"}
                ]
            },
        },
    }


def test_a_denial_without_a_field_is_a_forbidden():
    status = response(validation(body(), lambda _: Denied("not today")))["status"]
    assert (status["code"], status["reason"]) == (403, "Forbidden")


def test_a_mutation_is_a_patch_to_what_the_handler_returned():
    made = response(mutation(body(), lambda r: {**r.object, "spec": {"n": 2, "m": 3}}))
    assert made["patchType"] == "JSONPatch"
    assert json.loads(base64.b64decode(made["patch"])) == [
        {"op": "replace", "path": "/spec/n", "value": 2},
        {"op": "add", "path": "/spec/m", "value": 3},
    ]


def test_a_mutation_that_changes_nothing_has_no_patch():
    assert response(mutation(body(), lambda r: r.object)) == {"uid": "u1", "allowed": True}


def test_a_handler_may_change_the_object_that_it_was_given():
    def mutate(review):
        review.object["spec"]["n"] = 5
        return review.object

    made = response(mutation(body(), mutate))
    assert json.loads(base64.b64decode(made["patch"])) == [
        {"op": "replace", "path": "/spec/n", "value": 5}
    ]


@pytest.mark.parametrize(
    "junk",
    [b"", b"hello", b"[]", b'{"apiVersion": "admission.k8s.io/v1"}', body("v3")],
)
def test_what_is_no_review_is_refused(junk):
    with pytest.raises(ReviewError, match="no AdmissionReview"):
        validation(junk, lambda _: Allowed())


@pytest.mark.parametrize(("before", "after"), [(1, True), (1, 1.0), ([1], [True]), ([{}], [[]])])
def test_what_only_python_holds_for_equal_is_changed(before, after):
    assert patch({"a": before}, {"a": after}) == [{"op": "replace", "path": "/a", "value": after}]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text("a/~", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab/~", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text("ab/~", max_size=2), VALUES, max_size=4)


@settings(max_examples=50)
@given(OBJECTS, OBJECTS)
def test_a_patch_leads_from_any_object_to_any_other(before, after):
    done = applied(before, patch(before, after))
    assert json.dumps(done, sort_keys=True) == json.dumps(after, sort_keys=True)


@settings(max_examples=20)
@given(OBJECTS)
def test_there_is_no_patch_from_an_object_to_itself(obj):
    assert patch(obj, copy.deepcopy(obj)) == []
