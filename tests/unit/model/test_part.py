"""How references read in messages."""

from shoal.model.part import Absent, Files, KeyRef


def test_a_reference_reads_as_the_user_would_look_for_it():
    assert str(KeyRef("keys", "slurm.key")) == "Secret keys, key slurm.key"
    assert str(KeyRef("jwks", "keys", kind="ConfigMap")) == "ConfigMap jwks, key keys"
    assert str(Files("scripts")) == "ConfigMap scripts"
    assert str(Absent("Accounting", "books", "spec.accountingRef")) == "Accounting books"


def test_what_is_not_there_has_no_digest():
    assert not Absent("Accounting", "books", "spec.accountingRef").digest
    assert not KeyRef("keys", "slurm.key").digest
