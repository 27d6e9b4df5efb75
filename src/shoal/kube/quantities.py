"""Resource quantities such as 100m, 1.5Gi, 2e3. Pure."""

import re
from decimal import Decimal

_SUFFIXES = {
    "": Decimal(1),
    **{s: Decimal(1000) ** i for i, s in enumerate("kMGTPE", 1)},
    **{f"{s}i": Decimal(1024) ** i for i, s in enumerate("KMGTPE", 1)},
    "m": Decimal("0.001"),
    "u": Decimal("0.000001"),
    "n": Decimal("0.000000001"),
}
_FORM = re.compile(
    r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d{1,2}))?", re.ASCII
)


def parse(text: str | int | float) -> Decimal:
    """Return the number that a quantity means; anything else is a ValueError."""
    if found := _FORM.fullmatch(str(text)):
        number, suffix, exponent = found.groups()
        return Decimal(number) * _SUFFIXES[suffix or ""] * Decimal(10) ** int(exponent or 0)
    raise ValueError(
        f"{text!r} is no quantity: use a number with n, u, m, k, Ki, M, Mi, G, Gi, ..."
    )
