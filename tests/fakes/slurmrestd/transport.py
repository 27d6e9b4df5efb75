"""The fake right under our client: no sockets, and time may be virtual."""

import asyncio
import json

from shoal.slurmapi.errors import TimedOutError, UnreachableError, UnreadableError
from shoal.slurmapi.transport import Answer, Limits, Message

from .faults import Cut, Fault, Late, Lost, Says
from .slurm import Asked, FakeSlurm, Reply


def said(slurm: FakeSlurm, asked: Asked, fault: Fault | None) -> Reply:
    """Return what slurmrestd says, or what it says instead."""
    if not isinstance(fault, Says):
        return slurm.answer(asked)
    slurm.requests.append(f"{asked.method} {asked.path}")
    body = fault.body
    if isinstance(body, str):
        body = body.encode()
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    return Reply(fault.code, body, fault.content_type)


class FakeTransport:
    """Carries messages to a fake."""

    def __init__(self, slurm: FakeSlurm) -> None:
        self.slurm = slurm
        self.down = False  # nobody listens

    async def open(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""

    async def exchange(self, call: str, message: Message, limits: Limits) -> Answer:
        """Return the answer, in time or not at all."""
        if self.down:
            raise UnreachableError(call, "Connection refused")
        try:
            async with asyncio.timeout(limits.total_s):
                return await self._exchange(call, message, limits)
        except TimeoutError:
            raise TimedOutError(call, f"no answer within {limits.total_s:g} s") from None

    async def _exchange(self, call: str, message: Message, limits: Limits) -> Answer:
        headers = {name.lower(): value for name, value in message.headers.items()}
        asked = Asked(message.method, message.path, message.query, headers, message.body)
        fault = self.slurm.fault(asked)
        if isinstance(fault, Lost) and not fault.after:
            raise UnreachableError(call, "Server disconnected")
        if isinstance(fault, Late):
            await asyncio.sleep(fault.seconds)  # noqa: TID251 - the server's time
        reply = said(self.slurm, asked, fault)
        await asyncio.sleep(reply.after_s)  # noqa: TID251 - as above
        if isinstance(fault, Lost):
            raise UnreachableError(call, "Server disconnected")
        if isinstance(fault, Cut):
            if fault.line:
                raise UnreadableError(call, "the answer is cut short")
            return Answer(reply.code, reply.body[: fault.size])
        if len(reply.body) > limits.body_bytes:
            raise UnreadableError(call, "the answer is too large")
        return Answer(reply.code, reply.body)
