"""What slurmrestd, slurmctld and slurmdbd can do to us.

* SlurmError
  - UnknownError           nothing is known: no answer, or one that says nothing about the cluster
    * UnreachableError     slurmrestd itself gave no answer
      - TimedOutError      it took the request and gave none in time
    * UnreadableError      an answer that is cut short, too large, or not slurmrestd's
    * ControllerDownError  slurmrestd answers, slurmctld does not
    * DatabaseDownError    slurmrestd answers, slurmdbd does not
  - RefusedError           an answer that says no
    * BadTokenError        who are you: expired, wrong key, no token, unknown user
    * NotAllowedError      you may not
    * NotFoundError        there is no such node, job, partition or reservation
    * ExistsError          there is one of that name already
    * BusyError            later: jobs run there, or slurmctld asks for patience
    * BadRequestError      the request itself is wrong; only another one can help
      - NoSuchPathError    this slurmrestd does not serve that path in that version
  - MissingError           not asked: the Slurm at hand cannot do it at all

A read that fails, however it fails, tells nothing of the cluster; only a NotFoundError does.

An answer is classified by its error number, never by the HTTP code alone: slurmrestd sends 200 for
an unknown node, and 500 or 422, as the version goes, for everything that slurmctld refuses.
"""

from collections.abc import Sequence
from typing import Self

import msgspec

LONGEST_WORDS = 300


class Problem(msgspec.Struct, frozen=True):
    """One error or warning, in slurmrestd's words."""

    description: str = ""
    source: str = ""
    error: str = ""
    error_number: int = 0

    def __str__(self) -> str:
        """Return Slurm's word for it and what slurmrestd adds."""
        words = [] if self.error == "No error" else [self.error]
        words += [self.description] if self.description != self.error else []
        return ": ".join(word for word in words if word) or f"error {self.error_number}"


class SlurmError(Exception):
    """Anything that Slurm did not do."""

    cure: str = ""  # what the user should do

    def __init__(self, call: str, words: str, number: int | None = None, cure: str = "") -> None:
        words, cure = words[:LONGEST_WORDS], cure or type(self).cure
        super().__init__(f"{call}: {words}" + (f" ({cure})" if cure else ""))
        self.cure = cure
        self.call = call
        self.words = words
        self.number = number  # Slurm's own, where the answer had one

    def of(self, call: str) -> Self:
        """Return the same error for another call that it holds for, too."""
        return type(self)(call, self.words, self.number, self.cure)


class UnknownError(SlurmError):
    """Nothing is known."""

    cure = "look at slurmrestd's log"


class UnreachableError(UnknownError):
    """slurmrestd gave no answer."""

    cure = "check that slurmrestd runs and that its address and port are right"


class TimedOutError(UnreachableError):
    """slurmrestd took the request and gave no answer in time; a write may have been done."""

    cure = "check the load of slurmrestd and of what is behind it"


class UnreadableError(UnknownError):
    """An answer that makes no sense."""

    cure = "check that the address is slurmrestd's and that nothing in between changes its answers"


class ControllerDownError(UnknownError):
    """slurmctld does not answer."""

    cure = "check that slurmctld runs and that slurmrestd's slurm.conf names its address"


class DatabaseDownError(UnknownError):
    """slurmdbd does not answer."""

    cure = (
        "check that slurmdbd and its database run; if they do, slurmdbd has another JWT key than "
        "slurmctld and needs a restart"
    )


class RefusedError(SlurmError):
    """An answer that says no."""


class BadTokenError(RefusedError):
    """The token is not accepted."""

    cure = (
        "check that the token is signed with the key that slurmctld was last reconfigured with, "
        "that its user exists there, and that the clocks agree"
    )


class NotAllowedError(RefusedError):
    """The token's user may not do this."""

    cure = "give the token's user AdminLevel=Administrator, or use a token of SlurmUser"


class NotFoundError(RefusedError):
    """There is no such thing."""


class ExistsError(RefusedError):
    """There is one of that name already."""


class BusyError(RefusedError):
    """Not now."""

    cure = "try again when the jobs there have ended"


class BadRequestError(RefusedError):
    """The request itself is refused; only another one can help."""


class NoSuchPathError(BadRequestError):
    """The slurmrestd at hand does not serve that path."""

    cure = (
        "check which Slurm version slurmrestd has, and that its -s and -d options leave it all in"
    )


class MissingError(SlurmError):
    """The Slurm at hand cannot do it."""


LATER = "slurmctld limits its callers; try again later"
SKEW = "slurmrestd and slurmctld must be of the same or of neighbouring releases"
NOBODY = "the token's user does not exist where slurmctld runs"
STANDBY = "a backup controller answered; check the order of SlurmctldHost and that one is primary"

# Numbers of slurm/slurm_errno.h. What is not here is a plain RefusedError.
_BY_NUMBER: dict[int, tuple[type[SlurmError], str]] = {
    1005: (UnknownError, SKEW),
    1007: (BadTokenError, ""),
    1804: (BusyError, LATER),
    1805: (BusyError, LATER),
    2000: (NotFoundError, ""),  # partition
    2002: (NotAllowedError, ""),
    2010: (NotAllowedError, ""),
    2016: (BusyError, ""),  # nodes
    2017: (NotFoundError, ""),  # job
    2018: (NotFoundError, ""),  # node
    2020: (BusyError, ""),  # job in transition
    2027: (ControllerDownError, STANDBY),
    2053: (NotFoundError, ""),  # reservation
    2055: (BusyError, ""),  # reservation
    2075: (BusyError, ""),  # partition
    2082: (ExistsError, ""),  # reservation
    2120: (BusyError, ""),  # reboot in progress
    2131: (ControllerDownError, STANDBY),
    2168: (ExistsError, ""),  # node
    4034: (BusyError, LATER),
    6010: (BadTokenError, NOBODY),
    7000: (DatabaseDownError, ""),
    7001: (BusyError, ""),  # jobs of an association
    7008: (DatabaseDownError, ""),
    9003: (NotFoundError, ""),
    9008: (BadTokenError, ""),
}

_BY_RANGE: tuple[tuple[range, type[SlurmError]], ...] = (
    (range(1001, 1005), ControllerDownError),
    (range(1800, 1804), ControllerDownError),
    (range(5003, 5006), ControllerDownError),
    (range(6000, 6012), BadTokenError),
    (range(9000, 9300), BadRequestError),
    (range(11000, 13000), BadRequestError),
)

# For answers without a number: slurmrestd's own, in plain text, or a proxy's.
_BY_CODE: dict[int, type[SlurmError]] = {
    400: BadRequestError,
    401: BadTokenError,
    403: NotAllowedError,
    404: NoSuchPathError,
    405: NoSuchPathError,
    415: BadRequestError,
    429: BusyError,
    502: UnreachableError,
    503: UnreachableError,
    504: UnreachableError,
    511: BadTokenError,
}


def _class_of(number: int) -> tuple[type[SlurmError], str]:
    if number in _BY_NUMBER:
        return _BY_NUMBER[number]
    fitting = (kind for numbers, kind in _BY_RANGE if number in numbers)
    return next(fitting, RefusedError), ""


def refusal(call: str, problems: Sequence[Problem], absent: Sequence[int] = ()) -> SlurmError:
    """Return the error that a list `errors` is; numbers in `absent` here mean "not there"."""
    # The first with a number tells most; slurmrestd adds others that only say where it happened.
    first = next((problem for problem in problems if problem.error_number), problems[0])
    words = "; ".join(str(problem) for problem in problems)
    number = first.error_number
    if number in absent:
        return NotFoundError(call, words, number)
    kind, cure = _class_of(number)
    # 24.11 says so where slurmdbd did not take the token; 26.05 does not.
    if kind is DatabaseDownError and "uthentication" in words:
        kind = BadTokenError
    return kind(call, words, number, cure)


class _Problems(msgspec.Struct, frozen=True):
    errors: tuple[Problem, ...] = ()


def failure(call: str, code: int, body: bytes, absent: Sequence[int] = ()) -> SlurmError:
    """Return the error that an answer with an HTTP code of 400 or more is."""
    try:
        problems = msgspec.json.decode(body, type=_Problems).errors
    except msgspec.DecodeError:
        problems = ()
        if body.lstrip()[:1] == b"{":
            return UnreadableError(call, f"HTTP {code} with an answer that is cut short")
    if problems:
        return refusal(call, problems, absent)
    text = " ".join(body.decode(errors="replace").split()) or "no further words"
    kind = _BY_CODE.get(code, UnknownError if code >= 500 else RefusedError)
    return kind(call, f"HTTP {code}, {text}")
