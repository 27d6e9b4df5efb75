"""Label selectors. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .objects import Object


@dataclass(frozen=True)
class Requirement:
    """One demand on the label `key`."""

    key: str
    operator: str  # In, NotIn, Exists, DoesNotExist
    values: tuple[str, ...] = ()

    def met_by(self, labels: Mapping[str, str]) -> bool:
        """Say whether `labels` meet it, as the API server would."""
        match self.operator:
            case "In":
                return labels.get(self.key) in self.values
            case "NotIn":
                return labels.get(self.key) not in self.values
            case "Exists":
                return self.key in labels
            case "DoesNotExist":
                return self.key not in labels
            case _:
                raise ValueError(f"{self.operator}: unknown operator of a label selector")

    def __str__(self) -> str:
        match self.operator:
            case "In" if len(self.values) == 1:
                return f"{self.key}={self.values[0]}"
            case "In" | "NotIn":
                word = "in" if self.operator == "In" else "notin"
                return f"{self.key} {word} ({','.join(self.values)})"
            case "Exists":
                return self.key
            case _:
                return f"!{self.key}"


@dataclass(frozen=True)
class Selector:
    """All of several requirements; none at all selects everything."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Say whether an object with `labels` is selected."""
        return all(requirement.met_by(labels) for requirement in self.requirements)

    def __str__(self) -> str:
        """Return the form that a query takes."""
        return ",".join(map(str, self.requirements))


def having(labels: Mapping[str, str]) -> Selector:
    """Select what has all of `labels`."""
    return Selector(tuple(Requirement(k, "In", (v,)) for k, v in sorted(labels.items())))


def read(selector: Object | None) -> Selector:
    """Understand a LabelSelector. A missing one is refused: it would select everything."""
    if selector is None:
        raise ValueError("no label selector")
    expressions: Sequence[Object] = selector.get("matchExpressions") or ()
    listed = tuple(
        Requirement(e["key"], e["operator"], tuple(e.get("values") or ())) for e in expressions
    )
    return Selector(having(selector.get("matchLabels") or {}).requirements + listed)
