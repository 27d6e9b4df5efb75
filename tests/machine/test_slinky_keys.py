"""Keys and passwords that change: the right pods are replaced, and no others."""

import pytest

from shoal.kube import kinds
from shoal.runtime import clock

from .example import EXAMPLE, encoded, made
from .slinky import Scene

# What changes, and the parts whose pods read it at their start. Workers hold jobs: they keep the
# key that they have until they are replaced for another reason.
TURNS = {
    "slurm.key": ("keys", {"slurm_key": "new"}, ("accounting", "controller", "restapi", "login")),
    "jwt.key": ("keys", {"jwt_key": "new"}, ("accounting", "controller")),
    "password": ("db", {"password": "new"}, ("accounting",)),
    "sssd.conf": ("sssd", {"sssd_conf": "[sssd]\nx=1\n"}, ("login",)),
    "unrelated": ("keys", {"other": "new"}, ()),
}


@pytest.mark.parametrize("what", TURNS)
async def test_a_new_key_replaces_the_pods_that_read_it_and_no_others(what):
    name, data, parts = TURNS[what]
    async with Scene() as scene:
        await scene.rise()
        before = scene.pods()
        await scene.rewrite("Secret", name, **encoded(**data))
        await scene.settle()
        after = scene.pods()
        new = [name for name, uid in after.items() if before.get(name) != uid]
        assert sorted(part for part in ("accounting", "controller", "restapi", "login", "cpu")
                      if any(part in name for name in new)) == sorted(parts)  # fmt: skip
        assert len(after) == len(before)
        assert scene.unready() == []


async def test_a_new_signing_key_makes_a_new_token():
    async with Scene() as scene:
        await scene.rise()
        before = scene.find("Secret", "alice-jwt-alice")["data"]
        await scene.rewrite("Secret", "keys", **encoded(jwt_key="another"))
        await scene.settle()
        assert scene.find("Secret", "alice-jwt-alice")["data"] != before


async def test_a_token_is_renewed_before_it_ends_and_not_sooner():
    async with Scene() as scene:
        token = made("Token", "short", username="bob", lifetime="10m",
                     jwtKeyRef={"name": "keys", "key": "jwt.key"})  # fmt: skip
        await scene.rise(*EXAMPLE)
        await scene.make(token)
        texts = []
        for _ in range(60):
            await clock.sleep(30)
            texts.append(scene.find("Secret", "short-jwt-bob")["data"]["SLURM_JWT"])
        # Thirty minutes, and one every eight.
        assert len(set(texts)) == 4


async def test_a_token_that_is_not_renewed_is_kept_as_it_is_and_cannot_be_changed():
    async with Scene() as scene:
        token = made("Token", "once", username="bob", lifetime="10m", refresh=False,
                     jwtKeyRef={"name": "keys", "key": "jwt.key"})  # fmt: skip
        await scene.rise(*EXAMPLE, token)
        before = scene.find("Secret", "once-jwt-bob")
        assert before["immutable"] is True
        await clock.sleep(3600)
        assert scene.find("Secret", "once-jwt-bob") == before
        await scene.rewrite("Secret", "keys", **encoded(jwt_key="another"))
        await scene.settle()
        after = scene.find("Secret", "once-jwt-bob")
        assert after["data"] != before["data"]
        assert after["immutable"] is True
        assert scene.unready([("Token", "once")]) == []


async def test_host_keys_are_made_once():
    async with Scene() as scene:
        first = await scene.rise()
        before = scene.find("Secret", "login-ssh-host-keys")
        await scene.edit("LoginSet", "login", replicas=2)
        await scene.settle()
        await first.stop()
        scene.process()
        await scene.settle()
        assert scene.find("Secret", "login-ssh-host-keys") == before
        assert sorted(before["data"]) == [
            "ssh_host_ecdsa_key", "ssh_host_ecdsa_key.pub", "ssh_host_ed25519_key",
            "ssh_host_ed25519_key.pub", "ssh_host_rsa_key", "ssh_host_rsa_key.pub",
        ]  # fmt: skip


async def test_no_secret_is_in_a_configmap_or_a_log(logs):
    async with Scene() as scene:
        await scene.rise()
        maps = str(scene.objects(kinds.CONFIG_MAP))
        told = str(logs)
        for secret in ("horse", scene.slurm().key.decode()):
            assert secret not in maps
            assert secret not in told
