"""A configuration is not even tried while something that it needs is not there."""

import pytest

from shoal.decide.waiting import LIMIT_BYTES, Prospect, waiting
from shoal.model.accounting import ExternalAccounting
from shoal.model.config import Config, Scripts
from shoal.model.part import Files

from ..render.builders import make_accounting

THERE = Files("gres", ("gres.conf",), "d", "spec.configFileRefs")
LATE = Files("late", (), "", "spec.prologScriptRefs")
WITHOUT = "AccountingStorageType=accounting_storage/none\n"
WITH = "AccountingStorageType=accounting_storage/slurmdbd\n"
STAYS = "; the configuration in use stays until then"


def test_a_configuration_that_has_all_it_needs_waits_for_nothing():
    assert waiting(Prospect(Config())) is None
    assert waiting(Prospect(Config(files=(THERE,)), LIMIT_BYTES, WITHOUT)) is None


@pytest.mark.parametrize(("in_use", "end"), [(None, ""), (WITHOUT, STAYS)])
def test_a_configmap_that_is_not_there_is_named_with_its_field_and_a_cure(in_use, end):
    config = Config(files=(THERE,), scripts=Scripts(prolog=(LATE,)))
    failed = waiting(Prospect(config, in_use=in_use))
    assert failed.reason == "Missing"
    words = "spec.prologScriptRefs: ConfigMap late is not there; create it, or name another"
    assert failed.message == f"{words}{end}"


def test_an_empty_configmap_is_there():
    assert waiting(Prospect(Config(files=(Files("empty", (), "digest of nothing"),)))) is None


@pytest.mark.parametrize(
    ("files", "field"), [((THERE,), "spec.configFileRefs"), ((), "spec.extraConf")]
)
def test_files_that_no_configmap_holds_are_told_with_their_size(files, field):
    failed = waiting(Prospect(Config(files=files), LIMIT_BYTES + 1))
    assert failed.reason == "ConfigTooLarge"
    assert failed.message.startswith(f"{field}: {LIMIT_BYTES + 1} bytes")
    assert "spec.template" in failed.message


def test_a_slurmdbd_that_is_new_is_waited_for_as_slurmctld_registers_only_once():
    prospect = Prospect(Config(), in_use=WITHOUT, accounting=make_accounting())
    failed = waiting(prospect)
    assert failed.reason == "AccountingStarting"
    assert failed.message.startswith("spec.accountingRef: Accounting slurm is not ready yet")


@pytest.mark.parametrize(
    ("in_use", "accounting", "settled"),
    [
        (WITHOUT, make_accounting(), True),  # it serves
        (WITH, make_accounting(), False),  # slurmctld knows it; a restart of it is no reason
        (None, make_accounting(), False),  # both begin; slurmctld waits for it by itself
        (WITHOUT, ExternalAccounting("db", 6819), False),  # nobody can say
        (WITHOUT, None, False),
    ],
)
def test_no_other_slurmdbd_is_waited_for(in_use, accounting, settled):
    assert waiting(Prospect(Config(), 0, in_use, accounting, settled)) is None
