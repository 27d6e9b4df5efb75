"""Webhooks and their certificates, as the API server calls and trusts them."""

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from msgspec import Struct

from shoal.kube import kinds
from shoal.kube.crds import Conversion, Version, crd
from shoal.kube.kinds import Kind
from shoal.kube.objects import Object, Resource
from shoal.kubeapi.access import Access
from shoal.kubeapi.client import Client, Ref, Which
from shoal.kubeapi.errors import (
    ApiError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    ServerError,
)
from shoal.kubeapi.server import Tls
from shoal.runtime import keeper as keepers
from shoal.runtime.admission import Allowed, Cause, Denied, Review
from shoal.runtime.certificates import Lifetimes, authority, issue, read
from shoal.runtime.keeper import Keeper, Mounted, Secret
from shoal.runtime.trust import targets
from shoal.runtime.webhook import (
    Converting,
)

from .harbour import SERVICE, Harbour, Noted
from .real import asked, client_in_namespace, served


@pytest.fixture
async def harbour(real: Access) -> AsyncIterator[Harbour]:
    async with client_in_namespace(real) as (client, namespace):
        yield Harbour(real, client, namespace)


async def until(what: Callable[[], Awaitable[object]], limit_s: float = 20.0) -> None:
    """Wait until `what` holds."""
    async with asyncio.timeout(limit_s):
        while not await what():  # noqa: ASYNC110 - the API server tells nobody
            await asyncio.sleep(0.05)  # noqa: TID251


def allow(_: Review) -> Allowed:
    return Allowed()


async def test_a_denial_reaches_the_user_with_the_fields_that_are_wrong(harbour):
    def validate(review: Review) -> Allowed | Denied:
        if review.object.get("data", {}).get("size") == "big":
            return Denied("boats are small", (Cause("data.size", "must not be big"),))
        return Allowed()

    async with harbour.serving(harbour.validating(validate)):
        await harbour.make(size="small")
        with pytest.raises(InvalidError) as refusal:
            await harbour.make(size="big")
    said = 'admission webhook "check.sea.example" denied the request: boats are small'
    assert refusal.value.status.message == said
    assert [(c.field, c.message) for c in refusal.value.causes] == [
        ("data.size", "must not be big")
    ]


async def test_a_denial_without_a_field_is_forbidden(harbour):
    async with harbour.serving(harbour.validating(lambda _: Denied("not today"))):
        with pytest.raises(ForbiddenError, match="denied the request: not today"):
            await harbour.make()


async def test_warnings_reach_the_user(harbour):
    async with harbour.serving(harbour.validating(lambda _: Allowed(("sails are old",)))):
        path = kinds.CONFIG_MAP.path(harbour.namespace)
        headers, _ = await asked(harbour.access, "POST", path, harbour.config_map())
    assert headers["Warning"] == '299 - "sails are old"'


async def test_a_mutation_is_written_and_then_checked(harbour):
    seen = []

    def mutate(review: Review) -> Object:
        review.object["metadata"]["annotations"] = {"sea.example/filled": "yes"}
        review.object.get("data", {}).pop("gone", None)
        return review.object

    def validate(review: Review) -> Allowed:
        seen.append(review.object.get("data"))
        return Allowed()

    async with harbour.serving(harbour.mutating(mutate), harbour.validating(validate)):
        made = await harbour.make(gone="1", kept="2")
    assert made["metadata"]["annotations"] == {"sea.example/filled": "yes"}
    assert made["data"] == seen[-1] == {"kept": "2"}


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_reviews_of_both_versions_are_understood(harbour, version):
    row = harbour.validating(allow, admissionReviewVersions=[version])
    async with harbour.serving(row):
        assert (await harbour.make(a="b"))["data"] == {"a": "b"}


async def test_a_deletion_is_reviewed_with_what_was(harbour):
    def validate(review: Review) -> Allowed | Denied:
        return Denied("keep it") if review.old.get("data") == {"keep": "me"} else Allowed()

    row = replace(harbour.validating(validate), operations=("CREATE", "DELETE"))
    async with harbour.serving(row):
        made = await harbour.make(keep="me")
        with pytest.raises(ForbiddenError, match="keep it"):
            await harbour.client.delete(
                Ref(kinds.CONFIG_MAP, harbour.namespace, made["metadata"]["name"]), Resource
            )


async def test_a_handler_that_fails_or_hangs_is_a_readable_error(harbour):
    release = threading.Event()

    def validate(review: Review) -> Allowed:
        if "hang" in review.object.get("data", {}):
            release.wait(30)
        elif "fail" in review.object.get("data", {}):
            raise KeyError("sails")
        return Allowed()

    async with harbour.serving(harbour.validating(validate), limit_s=0.3):
        with pytest.raises(ServerError, match="/validate: KeyError: 'sails'"):
            await harbour.make(fail="")
        with pytest.raises(ServerError, match=r"/validate: no answer in 0\.3 s"):
            await harbour.make(hang="")
        await harbour.make()
        release.set()


async def test_a_webhook_that_is_not_there_is_a_clear_error_and_goes_unnoticed_if_asked_to(harbour):
    harbour.port = 1  # nobody listens there
    await harbour.configure([harbour.validating(allow)])

    said = ""

    async def refused() -> bool:
        nonlocal said
        try:
            await harbour.make()
        except ServerError as error:
            said = str(error)
            return True
        return False

    async def made() -> bool:
        return not await refused()

    await until(refused)
    assert 'failed calling webhook "check.sea.example"' in said
    assert "connection refused" in said
    await harbour.configure([harbour.validating(allow, failurePolicy="Ignore")])
    await until(made)
    await harbour.client.delete(Ref(kinds.VALIDATING_WEBHOOK, "", harbour.namespace), Resource)


# -- certificates


@dataclass
class Load:
    """Writes without a pause, and counts what went wrong."""

    harbour: Harbour
    done: int = 0
    failed: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(self._write()) for _ in range(4)]
        tasks.append(asyncio.create_task(self._shake_hands()))
        yield
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert not [task.exception() for task in tasks if not task.cancelled()]

    async def _write(self) -> None:
        while True:
            try:
                await self.harbour.make()
                self.done += 1
            except ApiError as error:
                self.failed.append(str(error))

    async def _shake_hands(self) -> None:
        """Meet the server anew, as an API server does that has no connection to it yet."""
        while True:
            trust = ssl.create_default_context(cadata=(await self.harbour.bundle()).decode())
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.harbour.port, ssl=trust)
                writer.close()
            except ssl.SSLError as error:
                self.failed.append(str(error))
            await asyncio.sleep(0.02)  # noqa: TID251


def issuers(certificates: Sequence[bytes]) -> list[str]:
    """Name those who signed, in turn."""
    names = (x509.load_pem_x509_certificate(c).issuer.rfc4514_string() for c in certificates)
    return list(dict.fromkeys(names))


async def test_certificates_are_rotated_while_requests_run_and_not_one_fails(harbour):
    lasts = Lifetimes(timedelta(seconds=6), timedelta(seconds=4.5), timedelta(seconds=1.5))
    standby, load = Noted(), Load(harbour)

    async def rotated() -> bool:
        return all(len(issuers(tls.loaded)) >= 3 for tls in (harbour.tls, standby))

    async with (
        harbour.serving(harbour.validating(allow), source=harbour.self_signed(lasts)),
        harbour.kept(standby, harbour.self_signed(lasts)),
        load.running(),
    ):
        await until(rotated)
        first = issuers(harbour.tls.loaded)[0]
        known = x509.load_pem_x509_certificates(await harbour.bundle())
    assert load.failed == []
    assert load.done > 100
    assert first not in [c.subject.rfc4514_string() for c in known], "retired"
    assert issuers(standby.loaded)[:3] == issuers(harbour.tls.loaded)[:3], "one Secret for both"


async def test_a_mounted_certificate_with_a_new_authority_is_taken_without_a_failure(
    harbour, tmp_path, monkeypatch
):
    monkeypatch.setattr(keepers, "SETTLE_S", 1.0)
    now, lasts = datetime.now(UTC), Lifetimes()  # noqa: TID251 - OpenSSL asks the real clock

    def put() -> None:
        by = authority(now, lasts)
        made = issue(by, ["127.0.0.1"], now, lasts)
        for name, text in (
            ("ca.crt", by.certificate),
            ("tls.crt", made.certificate),
            ("tls.key", made.key),
        ):
            (tmp_path / name).write_bytes(text)

    async def taken() -> bool:
        return len(harbour.tls.loaded) == 2

    put()
    load = Load(harbour)
    source = Mounted(tmp_path, look_s=0.1)
    async with harbour.serving(harbour.validating(allow), source=source), load.running():
        put()
        await until(taken)
        await asyncio.sleep(0.5)  # noqa: TID251
    assert load.failed == []


async def test_replicas_that_start_together_make_one_secret(harbour):
    several = [Noted() for _ in range(4)]
    async with AsyncExitStack() as stack:
        await asyncio.gather(
            *(
                stack.enter_async_context(harbour.kept(tls, harbour.self_signed()))
                for tls in several
            )
        )
    assert len({tuple(tls.loaded) for tls in several}) == 1


async def test_a_secret_that_is_deleted_or_spoiled_is_written_again_as_it_was(harbour):
    where = Ref(kinds.SECRET, harbour.namespace, SERVICE)

    async def held() -> object:
        try:
            return read((await harbour.client.get(where, Secret)).data)
        except NotFoundError:
            return None

    async with harbour.kept(harbour.tls, harbour.self_signed()):
        before = await held()
        assert before is not None
        await harbour.client.delete(where, Resource)
        await until(held)
        assert await held() == before
        await harbour.client.patch(where, {"data": {"tls.crt": "anVuaw=="}}, Resource)
        await until(held)
        assert await held() == before
        assert len(harbour.tls.loaded) == 1


async def test_only_the_bundle_is_written_and_it_is_written_again_when_somebody_drops_it(harbour):
    where = Ref(kinds.VALIDATING_WEBHOOK, "", harbour.namespace)
    async with (
        Client(harbour.access, "shoal") as ours,
        harbour.kept(harbour.tls, harbour.self_signed()),
    ):
        table = [harbour.validating(allow)]
        await harbour.configure(table)
        keeper = Keeper(ours, harbour.self_signed(), Tls(), targets(harbour.namespace, table))
        keeping = asyncio.create_task(keeper.run())
        await until(harbour.bundle)
        trusted = await harbour.bundle()
        drop = [{"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}]
        await harbour.client.patch(where, drop, Resource)
        await until(harbour.bundle)
        assert await harbour.bundle() == trusted
        found = await harbour.client.get(where, dict)
        keeping.cancel()
        await asyncio.wait([keeping])
        await harbour.client.delete(where, Resource)
    (fields,) = [
        entry["fieldsV1"]
        for entry in found["metadata"]["managedFields"]
        if entry["manager"] == "shoal"
    ]
    hook = fields["f:webhooks"]['k:{"name":"check.sea.example"}']
    assert hook == {"f:clientConfig": {"f:caBundle": {}}}


# -- conversion

BOAT = Kind("sea.example", "v2", "Boat", "boats")
OLD_BOAT = replace(BOAT, version="v1")


class OldSpec(Struct):
    masts: int = 1


class OldBoat(Struct):
    spec: OldSpec


class NewSpec(Struct):
    poles: int = 1


class NewBoat(Struct):
    spec: NewSpec


def convert(obj: Object, version: str) -> Object:
    old, new = ("masts", "poles") if version == "v2" else ("poles", "masts")
    if obj["spec"][old] > 9:
        raise ValueError("nine at most")
    return {**obj, "spec": {new: obj["spec"][old]}}


async def test_two_versions_are_served_by_conversion_and_a_failure_names_the_object(harbour):
    def boat(kind: Kind, name: str, **spec: int) -> Object:
        return {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {"name": name, "namespace": harbour.namespace, "labels": {"a": "b"}},
            "spec": spec,
        }

    async with harbour.serving(Converting("/convert", BOAT, convert)):
        versions = [Version("v1", OldBoat, deprecated="use v2"), Version("v2", NewBoat)]
        await served(
            harbour.client, crd(BOAT, versions, conversion=Conversion(harbour.endpoint, "/convert"))
        )

        async def converted() -> bool:
            with suppress(ServerError):
                await harbour.client.apply(OLD_BOAT, boat(OLD_BOAT, "a", masts=3), dict)
                return True
            return False

        await until(converted)
        new = await harbour.client.get(Ref(BOAT, harbour.namespace, "a"), dict)
        old = await harbour.client.get(Ref(OLD_BOAT, harbour.namespace, "a"), dict)
        assert (old["spec"], new["spec"]) == ({"masts": 3}, {"poles": 3})
        assert old["metadata"]["uid"] == new["metadata"]["uid"]
        assert new["metadata"]["labels"] == {"a": "b"}

        listed = await harbour.client.every(Which(OLD_BOAT, harbour.namespace), Resource)
        assert [found.metadata.name for found in listed] == ["a"]

        await harbour.client.create(BOAT, boat(BOAT, "big", poles=12), dict)
        path = OLD_BOAT.path(harbour.namespace, "big")
        _, status = await asked(harbour.access, "GET", path)
    assert status["code"] == 500
    what = f"Boat {harbour.namespace}/big from sea.example/v2 to sea.example/v1"
    assert f"{what}: ValueError: nine at most" in status["message"]
