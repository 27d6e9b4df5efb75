"""What a pass may raise, and what the runtime does about it.

* TerminalError  report, do not try again     (only a new spec can help)
* DeposedError   stop: another process leads  (raised by the gate, never by a pass)

Everything else is tried again with growing pauses. What a controller does not expect (it expects an
ApiError, and what it names beside that) is logged with its trace, as it is a bug.
"""


class TerminalError(Exception):
    """Wait for a new spec."""


class DeposedError(Exception):
    """Another process leads, or may by now: nothing more is written."""
