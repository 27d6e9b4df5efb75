from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.model.part import ServiceWishes
from shoal.render.slurmdbd_conf import slurmdbd_conf
from shoal.slurm import conf, keys
from shoal.slurm.conf import ConfError

from .builders import NEWEST, OLDEST, make_accounting

GRAMMAR = conf.GRAMMARS["slurmdbd.conf"]


def settings(text):
    found = conf.effective(conf.parse(text, GRAMMAR), GRAMMAR)
    return {key: lines[-1].value for key, lines in found.items()}


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_every_key_is_one_that_this_slurm_knows(version):
    lines = conf.parse(slurmdbd_conf(make_accounting(), "x"), GRAMMAR)
    assert list(keys.remarks(lines, version, "slurmdbd.conf")) == []


def test_slurmdbd_is_told_its_own_name_and_where_the_database_is():
    found = settings(slurmdbd_conf(make_accounting(), "secret"))
    assert found["dbdhost"] == "slurm-accounting-0"
    assert found["storagehost"] == "mariadb"
    assert found["storageport"] == "3306"
    assert found["storageloc"] == "slurm_acct_db"
    assert found["storageuser"] == "slurm"
    assert found["storagepass"] == "secret"


def test_slurmdbd_listens_where_its_service_leads_whatever_the_services_port():
    made = make_accounting(service=ServiceWishes(7819))
    assert settings(slurmdbd_conf(made, ""))["dbdport"] == "6819"


def test_the_users_lines_come_last_and_options_are_united():
    made = make_accounting(extra="PurgeJobAfter=1year\nAuthInfo=cred_expire=120")
    text = slurmdbd_conf(made, "")
    assert "### EXTRA CONFIG ###\nPurgeJobAfter=1year\n" in text
    assert text.endswith("### MERGED CONFIG ###\nAuthInfo=cred_expire=120,use_client_ids\n")


@example("a#b")
@example("a\\")
@example("two words")
@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), min_size=1))
def test_any_password_that_can_be_written_reaches_slurmdbd(password):
    try:
        found = settings(slurmdbd_conf(make_accounting(), password))
    except ConfError:
        assert '"' in password
    else:
        assert found["storagepass"] == password


@pytest.mark.parametrize("password", ["top\nStorageHost=evil", 'a"b', "x\0y"])
def test_an_error_about_the_password_does_not_show_it(password):
    with pytest.raises(ConfError) as refused:
        slurmdbd_conf(make_accounting(), password)
    assert "Secret db, key password" in str(refused.value)
    assert password not in str(refused.value)
    assert repr(password) not in str(refused.value)


def test_the_databases_host_cannot_bring_a_line_of_its_own():
    made = make_accounting()
    made = replace(made, database=replace(made.database, host="a\nDbdHost=b"))
    with pytest.raises(ConfError, match=r"storageConfig\.host"):
        slurmdbd_conf(made, "")
