import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from fakes.loop import VirtualLoop
from shoal.kubeapi.access import Access, Fixed
from shoal.kubeapi.client import Client
from shoal.kubeapi.server import Tls
from shoal.runtime import clock
from shoal.runtime.certificates import Lifetimes, authority, issue
from shoal.runtime.keeper import LOOK_S, Keeper, Mounted

LOOP = VirtualLoop
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Noted(Tls):
    """Knows what it was given."""

    def __init__(self):
        super().__init__()
        self.loaded = []

    def load(self, certificate, key):
        super().load(certificate, key)
        self.loaded.append(certificate)


def pair():
    return issue(authority(NOON, Lifetimes()), ["shoal.ops.svc"], NOON, Lifetimes())


def put(folder, made):
    folder.mkdir(exist_ok=True)
    (folder / "tls.crt").write_bytes(made.certificate)
    (folder / "tls.key").write_bytes(made.key)


@asynccontextmanager
async def keeping(folder):
    tls = Noted()
    # There is nothing to watch and no target, so nobody is called.
    keeper = Keeper(Client(Access("http://nowhere", Fixed()), "test"), Mounted(folder), tls)
    running = asyncio.create_task(keeper.run())
    await clock.sleep(1)
    yield keeper, tls
    running.cancel()
    await asyncio.wait([running])


async def test_a_mounted_certificate_is_served_and_a_new_one_is_seen(tmp_path):
    one, other = pair(), pair()
    put(tmp_path, one)
    async with keeping(tmp_path) as (keeper, tls):
        assert keeper.ready.is_set()
        await clock.sleep(5 * LOOK_S)
        assert tls.loaded == [one.certificate]
        put(tmp_path, other)
        await clock.sleep(LOOK_S)
        assert tls.loaded == [one.certificate, other.certificate]


async def test_a_certificate_that_comes_late_is_waited_for(tmp_path):
    async with keeping(tmp_path / "mount") as (keeper, tls):
        await clock.sleep(10 * LOOK_S)
        assert not keeper.ready.is_set()
        put(tmp_path / "mount", made := pair())
        await clock.sleep(LOOK_S)
        assert keeper.ready.is_set()
        assert tls.loaded == [made.certificate]


async def test_a_folder_that_is_half_changed_or_gone_leaves_the_certificate_in_use(tmp_path):
    one, other = pair(), pair()
    put(tmp_path, one)
    async with keeping(tmp_path) as (_, tls):
        (tmp_path / "tls.key").write_bytes(other.key)
        await clock.sleep(LOOK_S)
        (tmp_path / "tls.crt").unlink()
        await clock.sleep(LOOK_S)
        assert tls.loaded == [one.certificate]
        put(tmp_path, other)
        await clock.sleep(LOOK_S)
        assert tls.loaded == [one.certificate, other.certificate]
