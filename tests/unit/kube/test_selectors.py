"""Label selectors: the same answer as the API server's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kube.selectors import Requirement, Selector, having, read

LABELS = {"app": "slurmd", "pool": "a"}


@pytest.mark.parametrize(
    ("requirement", "met"),
    [
        (Requirement("app", "In", ("slurmd", "other")), True),
        (Requirement("app", "In", ("other",)), False),
        (Requirement("absent", "In", ("x",)), False),
        (Requirement("app", "NotIn", ("slurmd",)), False),
        (Requirement("app", "NotIn", ("other",)), True),
        # What has no such label at all is selected too: labels.Requirement.Matches.
        (Requirement("absent", "NotIn", ("x",)), True),
        (Requirement("app", "Exists"), True),
        (Requirement("absent", "Exists"), False),
        (Requirement("app", "DoesNotExist"), False),
        (Requirement("absent", "DoesNotExist"), True),
    ],
)
def test_a_requirement_is_met_as_the_api_server_would_say(requirement, met):
    assert requirement.met_by(LABELS) is met


def test_an_unknown_operator_is_an_error_that_names_it():
    with pytest.raises(ValueError, match="Near") as caught:
        Requirement("app", "Near").met_by(LABELS)
    assert "operator" in str(caught.value)


def test_all_requirements_must_be_met():
    assert having({"app": "slurmd", "pool": "a"}).matches(LABELS)
    assert not having({"app": "slurmd", "pool": "b"}).matches(LABELS)


def test_an_empty_selector_selects_everything():
    assert Selector().matches({})
    assert read({}).matches(LABELS)


def test_a_missing_selector_is_refused_as_it_would_select_everything():
    with pytest.raises(ValueError, match="no label selector") as caught:
        read(None)
    assert caught.type is ValueError


def test_both_halves_of_a_label_selector_are_read():
    selector = read(
        {
            "matchLabels": {"app": "slurmd"},
            "matchExpressions": [
                {"key": "pool", "operator": "In", "values": ["a", "b"]},
                {"key": "gone", "operator": "DoesNotExist"},
                {"key": "app", "operator": "Exists"},
                {"key": "pool", "operator": "NotIn", "values": ["c"]},
            ],
        }
    )
    assert selector.matches(LABELS)
    assert str(selector) == "app=slurmd,pool in (a,b),!gone,app,pool notin (c)"


words = st.text("ab", min_size=1, max_size=2)
labels = st.dictionaries(words, words, max_size=3)


@given(labels, labels)
def test_having_selects_exactly_what_has_all_the_labels(wanted, found):
    assert having(wanted).matches(found) == (wanted.items() <= found.items())
