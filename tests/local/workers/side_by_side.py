"""Cases that run side by side, as most of each is waiting; a test asks for the end of one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from .nodesets import Record

Told = list[tuple[str, object]]
Case = tuple[Callable[..., None], object]  # what is done, with whom
Running = Mapping[str, "Future[Told]"]


@contextmanager
def under_way(*rows: Mapping[str, Case]) -> Iterator[Running]:
    """Give the cases, under way; those of a row one after the other, the rows side by side."""
    with ThreadPoolExecutor(len(rows)) as pool:
        found: dict[str, Future[Told]] = {name: Future() for row in rows for name in row}
        ends = [pool.submit(_one_by_one, row, found) for row in rows]
        yield found
        assert [end.result() for end in ends] == [None] * len(rows)


def _one_by_one(row: Mapping[str, Case], found: Running) -> None:
    for name, (case, workers) in row.items():
        told: Told = []
        try:
            case(workers, lambda *figure, told=told: told.append(figure))
        except BaseException as error:  # noqa: BLE001 - a failed assertion is the test's to raise
            found[name].set_exception(error)
        else:
            found[name].set_result(told)


def result(future: "Future[Told]", record: Record) -> Told:
    """Wait for the end of a case, and return its figures, which are recorded."""
    told = future.result()
    for figure in told:
        record(*figure)
    return told


def alone(cases: Mapping[str, Case]) -> Sequence[Mapping[str, Case]]:
    """Return cases that wait for no other."""
    return [{name: case} for name, case in cases.items()]
