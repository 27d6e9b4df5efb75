from dataclasses import replace

import pytest

from shoal.model.jail import Claimed, Given
from shoal.model.maintenance import Mode
from shoal.render.jailed import populate

from ..builders import container_of, environment, spec_of
from .worlds import CLAIM, make_jail, make_part


def job(**changes):
    jail = make_jail()
    return populate.job(replace(jail, populate=replace(jail.populate, **changes)))


@pytest.mark.parametrize(
    ("mode", "made"),
    [
        (Mode.NONE, True),
        (Mode.DOWNSCALE, True),
        (Mode.OVERWRITE, True),
        (Mode.DELETE, False),
        (Mode.SKIP, False),
    ],
)
def test_the_jail_is_filled_unless_the_user_says_otherwise(mode, made):
    assert bool(populate.objects(make_jail(mode=mode))) is made


@pytest.mark.parametrize(
    ("overwrite", "mode", "told"),
    [(False, Mode.NONE, "0"), (True, Mode.NONE, "1"), (False, Mode.OVERWRITE, "1")],
)
def test_what_is_there_is_replaced_only_on_the_users_word(overwrite, mode, told):
    jail = make_jail(mode=mode)
    jail = replace(jail, populate=replace(jail.populate, overwrite=overwrite))
    main = container_of(populate.job(jail), "populate-jail")
    assert environment(main) == {"OVERWRITE": told}


def test_a_job_that_failed_shows_its_pod():
    assert spec_of(job())["restartPolicy"] == "Never"


@pytest.mark.parametrize("volume", [Given({"emptyDir": {}}), Claimed(CLAIM)])
def test_the_jail_is_filled_from_a_snapshot_where_there_is_one(volume):
    made = job(snapshot=volume)
    (mount,) = [
        m for m in container_of(made, "populate-jail")["volumeMounts"] if m["mountPath"] == "/jail"
    ]
    assert mount["readOnly"]
    assert mount["name"] in [v["name"] for v in spec_of(made)["volumes"]]


def test_the_job_runs_where_the_user_wants():
    part = make_part("populate-jail", spec={"nodeSelector": {"pool": "x"}})
    assert spec_of(job(part=part))["nodeSelector"] == {"pool": "x"}
