from dataclasses import replace

import pytest

from shoal.model.controller import Keys
from shoal.model.database import ExternalDatabase
from shoal.model.part import KeyRef
from shoal.render.jailed import slurmdbd_conf
from shoal.slurm import conf
from shoal.slurm.conf import ConfError

from .worlds import MUNGE_KEY, make_accounting


def values(accounting=None, password="secret"):
    text = slurmdbd_conf.slurmdbd_conf(accounting or make_accounting(), password)
    found = conf.effective(conf.parse(text, conf.GRAMMARS["slurmdbd.conf"]))
    return {key: lines[-1].value for key, lines in found.items()}


def test_slurmdbd_finds_its_database():
    keys = values()
    assert keys["storagehost"] == "one-acct-db"
    assert keys["storageport"] == "3306"
    assert keys["storageuser"] == "slurm"
    assert keys["storagepass"] == "secret"


def test_the_users_options_are_written_and_those_left_empty_are_not():
    keys = values()
    assert keys["archiveevents"] == "yes"
    assert keys["purgeeventafter"] == "1month"
    assert "privatedata" not in keys


def test_tokens_are_taken_only_where_there_is_a_key_for_them():
    assert values()["authaltparameters"] == "jwt_key=/var/spool/slurmdbd/jwt_hs256.key"
    without = make_accounting(keys=Keys(None, None, munge=MUNGE_KEY))
    assert "authalttypes" not in values(without)


def test_a_database_of_somebody_elses_is_talked_to_as_he_wants():
    store = ExternalDatabase(
        KeyRef("ca", "ca.crt"), KeyRef("client", "tls.crt"), {"CONNECT_TIMEOUT": "10"}
    )
    assert values(make_accounting(store=store))["storageparameters"] == (
        "CONNECT_TIMEOUT=10,SSL_CA=/mnt/slurmdbd-ssl-ca-cert/ca.crt"
        ",SSL_CERT=/mnt/slurmdbd-ssl-client-key/tls.crt"
        ",SSL_KEY=/mnt/slurmdbd-ssl-client-key/tls.key"
    )


def test_nothing_is_said_of_how_to_talk_where_nothing_is_asked():
    assert "storageparameters" not in values(make_accounting(store=ExternalDatabase()))
    assert "storageparameters" not in values(make_accounting())


@pytest.mark.parametrize("password", ["with space", "with#hash", "back\\slash", ""])
def test_a_password_is_read_as_it_is(password):
    text = slurmdbd_conf.slurmdbd_conf(make_accounting(), password)
    (line,) = [x for x in text.splitlines() if x.startswith("StoragePass=")]
    (found,) = conf.parse(line, conf.GRAMMARS["slurmdbd.conf"])
    assert found.value == password


@pytest.mark.parametrize("password", ["a\nSlurmUser=eve", 'a"b'])
def test_a_password_that_the_file_cannot_hold_is_refused_and_not_shown(password):
    with pytest.raises(ConfError, match="StoragePass") as refused:
        values(password=password)
    assert password not in str(refused.value)


def test_no_option_of_the_users_can_end_a_line():
    bad = replace(make_accounting(), options=(("PrivateData", "jobs\nSlurmUser=eve"),))
    with pytest.raises(ConfError, match="slurmdbdConfig: PrivateData"):
        values(bad)
