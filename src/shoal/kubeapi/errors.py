"""What the API server can do to us.

* ApiError
  - UnreachableError     no answer: nothing is known
  - UnreadableError      an answer that makes no sense: something else than an API server is there,
                         or an object is not what its type says
  - RefusedError         an answer that says no
    * UnauthorizedError  401: who are you
    * ForbiddenError     403: you may not
    * NotFoundError      404
    * ExistsError        409: there is one of that name already
    * ConflictError      409: it is not what you think it is (version, uid, field owner)
    * GoneError          410: that far back is no longer known
    * InvalidError       400, 422: the object itself is wrong; only another one can help
    * BusyError          429: later
    * ServerError        5xx
"""

import msgspec


class Cause(msgspec.Struct, frozen=True):
    """One of several reasons of a refusal."""

    field: str = ""
    message: str = ""
    reason: str = ""


class Details(msgspec.Struct, frozen=True, rename="camel"):
    """What a refusal is about."""

    causes: tuple[Cause, ...] = ()
    retry_after_seconds: int = 0


class Status(msgspec.Struct, frozen=True):
    """The API server's own words."""

    message: str = ""
    reason: str = ""
    code: int = 0
    details: Details | None = None


class ApiError(Exception):
    """Anything the API server did not do."""


class UnreachableError(ApiError):
    """No answer, so nothing is known."""


class UnreadableError(ApiError):
    """An answer that is not what was asked for."""


class RefusedError(ApiError):
    """An answer that says no."""

    def __init__(
        self, call: str, status: Status, retry_after_s: float = 0.0, to_mend: str = ""
    ) -> None:
        words = f"{call}: {status.message or status.reason or status.code}"
        super().__init__(f"{words}: {to_mend}" if to_mend else words)
        self.status = status
        asked_s = status.details.retry_after_seconds if status.details else 0
        self.retry_after_s = max(retry_after_s, float(asked_s))  # 0: the server did not say

    @property
    def causes(self) -> tuple[Cause, ...]:
        """Return the single reasons, such as the fields that somebody else owns."""
        return self.status.details.causes if self.status.details else ()


class UnauthorizedError(RefusedError):
    """The credentials are not accepted."""


class ForbiddenError(RefusedError):
    """The rights are missing."""


class NotFoundError(RefusedError):
    """There is no such object."""


class ExistsError(RefusedError):
    """There is one of that name already."""


class ConflictError(RefusedError):
    """It is not what the caller thought: another version, another uid, another field owner."""


class GoneError(RefusedError):
    """That far back is no longer known: list anew."""


class InvalidError(RefusedError):
    """The object itself is refused; only another one can help."""


class BusyError(RefusedError):
    """Too many requests, or a budget that does not allow it now."""


class ServerError(RefusedError):
    """The API server failed."""


_BY_CODE: dict[int, type[RefusedError]] = {
    400: InvalidError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
    422: InvalidError,
    429: BusyError,
}


def refusal(
    call: str, code: int, body: bytes, retry_after: str | None = None, to_mend: str = ""
) -> RefusedError:
    """Return the error that an answer with `code`, `body` and the header Retry-After is."""
    # A date is allowed there too; no API server sends one.
    asked_s = float(retry_after) if retry_after and retry_after.isdecimal() else 0.0
    try:
        status = msgspec.json.decode(body, type=Status)
    except msgspec.DecodeError:
        # A proxy or a webhook in between answers in plain text.
        status = Status(message=body.decode(errors="replace")[:500], code=code)
    if status.reason == "AlreadyExists":
        return ExistsError(call, status, asked_s)
    if status.reason in ("Expired", "Gone"):
        return GoneError(call, status, asked_s)
    kind = _BY_CODE.get(code, ServerError if code >= 500 else RefusedError)
    return kind(call, status, asked_s, to_mend)
