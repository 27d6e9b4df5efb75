"""Whose drain it is, told by its reason."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.slurm.reasons import Owner, Prefixes, Reason, first_mark, parse, sanitised

OURS = Prefixes("slurm-operator: ")
WITH_CHECKS = Prefixes("[compute_maintenance] ", ("[node_problem]", "[hardware_problem]"))


@pytest.mark.parametrize(
    ("reason", "owner"),
    [
        ("slurm-operator: Pod (ns/w-0) was cordoned", Owner.OURS),
        ("slurm-operator: ", Owner.OURS),
        ("slurm-operator:", Owner.OURS),  # stored trimmed
        ("slurm-operators: mine", Owner.FOREIGN),
        (" slurm-operator: x", Owner.FOREIGN),
        ("was slurm-operator: x", Owner.FOREIGN),
        ("Slurm-Operator: x", Owner.FOREIGN),
        ("Kill task failed", Owner.FOREIGN),
        ("Not responding", Owner.FOREIGN),
        ("", Owner.NOBODY),
        (" \t", Owner.NOBODY),
    ],
)
def test_a_reason_belongs_to_the_one_whose_prefix_it_has(reason, owner):
    assert OURS.owner_of(reason) is owner


def test_a_dialect_may_own_several_prefixes():
    owned = [WITH_CHECKS.owner_of(f"{mark} gpu") for mark in ("[node_problem]", "[user_problem]")]
    assert owned == [Owner.OURS, Owner.FOREIGN]


@given(st.text())
def test_a_foreign_reason_is_neither_overwritten_nor_lifted(reason):
    foreign = OURS.owner_of(reason) is Owner.FOREIGN
    assert OURS.may_drain(reason) is not foreign
    assert not (foreign and OURS.may_undrain(reason))


def test_a_drain_without_a_reason_is_not_ours_to_lift():
    assert OURS.may_drain("")
    assert not OURS.may_undrain("")


@given(st.text())
def test_what_we_sign_is_ours_and_signing_twice_changes_nothing(text):
    signed = OURS.sign(text)
    assert OURS.owner_of(signed) is Owner.OURS
    assert OURS.sign(signed) == signed


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a\tb\r\nc", "a b  c"),
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("  trimmed \n", "trimmed"),
        ("nul\x00 bell\x07", "nul bell"),
        ("one\u2028two", "one two"),
        ("\ud800half", "half"),
        ("naïve ✓", "naïve ✓"),
        ("x" * 300, "x" * 256),
        ("x" * 255 + " y", "x" * 255),
        ("\x00\n", ""),
    ],
)
def test_a_reason_is_one_clean_line(text, clean):
    assert sanitised(text) == clean


@given(st.text())
def test_a_clean_reason_is_short_printable_and_stays_as_it_is(text):
    clean = sanitised(text)
    assert len(clean) <= 256
    assert not [c for c in clean if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}]
    assert sanitised(clean) == clean
    clean.encode()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "Not responding [slurm@2026-01-02T03:04:05]",
            Reason("Not responding", "slurm", "2026-01-02T03:04:05"),
        ),
        ("gone [root@Unknown]", Reason("gone", "root", "Unknown")),
        (
            "x [bob@example.org@2026-01-02T03:04:05]",
            Reason("x", "bob@example.org", "2026-01-02T03:04:05"),
        ),
        (
            "[node_problem] gpu: job 7 [slurm_job] [root@2026-01-02T03:04:05]",
            Reason("[node_problem] gpu: job 7 [slurm_job]", "root", "2026-01-02T03:04:05"),
        ),
        ("[user_problem] disk [epilog]", Reason("[user_problem] disk [epilog]")),
        ("ask [bob@desk]", Reason("ask [bob@desk]")),
        ("(null)", Reason("")),
        ("none", Reason("")),
        ("  ", Reason("")),
    ],
)
def test_what_scontrol_adds_to_a_reason_is_no_part_of_it(text, reason):
    assert parse(text) == reason


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Z"])))
def test_a_reason_survives_scontrol(text):
    shown = f"{text} [root@2026-01-02T03:04:05]"
    assert parse(shown).text == ("" if text in {"(null)", "none"} else text)


def test_of_several_marks_the_first_in_the_list_counts_not_in_the_reason():
    marks = ("Kill task failed", "[node_problem]", "[user_problem]")
    assert first_mark("[user_problem] then Kill task failed", marks) == "Kill task failed"
    assert first_mark("an admin's own words", marks) is None
