"""Modules that say `LOOP = VirtualLoop` run in virtual time."""

from fakes.loop import pytest_asyncio_loop_factories  # noqa: F401 - the hook
