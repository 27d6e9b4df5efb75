"""Whole stories of workers, one line per pass: tests/golden/rollouts/<story>.txt.

Each line says when, who serves, and what was done and why. `make golden` writes them anew.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from shoal.decide import farewell
from shoal.decide.plan import (
    Action,
    CreateWorker,
    DeleteWorker,
    DrainWorker,
    ForgetNode,
    LookInside,
    ResumeWorker,
    Wait,
)
from shoal.model.nodeset import Update
from unit.decide.worlds import OTHER, grown

HERE = Path(__file__).parent / "rollouts"
VERBS = {
    CreateWorker: "start",
    DrainWorker: "drain",
    ResumeWorker: "resume",
    DeleteWorker: "end",
    LookInside: "look into",
    ForgetNode: "forget",
    Wait: "wait",
}


class Story:
    """A world that writes down what is done to it."""

    def __init__(self, replicas: int, each_s: int = 60, **fields: object) -> None:
        self.world, self.operator = grown(replicas, **fields)
        self.began = self.world.now
        self.each_s = each_s
        self.lines: list[str] = []

    def says(self, words: str) -> None:
        """Write down what somebody does."""
        self.lines.append(f"{self._time()}  -- {words}")

    def passes(self, most: int, *, until_quiet: bool = True) -> None:
        """Make so many passes, one each minute or so; one that brings no news is left out."""
        for _ in range(most):
            told = [action for action in self.operator.all_at_once() if type(action) in VERBS]
            line = f"{self._state()}  {'; '.join(_told(told)) or 'nothing'}"
            if not self.lines or not self.lines[-1].endswith(f"  {line}"):
                self.lines.append(f"{self._time()}  {line}")
            if until_quiet and not told and self._at_rest():
                return
            self.world.tick(self.each_s)

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def _at_rest(self) -> bool:
        pods = self.world.pods.values()
        return all(p.ready_since and not p.ending for p in pods) and not self.world.jobs

    def _time(self) -> str:
        minutes, seconds = divmod(int((self.world.now - self.began).total_seconds()), 60)
        return f"{minutes:02}:{seconds:02}"

    def _state(self) -> str:
        world = self.world
        serving = [name for name, r in world.records.items() if r.serving and name != OTHER]
        there = [name for name in serving if name in world.pods and world.pods[name].ready_since]
        new = sum(pod.revision == world.revision for pod in world.pods.values())
        return f"{len(there)} serve, {new} of {len(world.pods)} new:"


def _told(actions: list[Action]) -> Iterator[str]:
    order = list(VERBS)
    key = lambda action: (order.index(type(action)), action.why)  # noqa: E731
    for (kind, why), alike in groupby(sorted(actions, key=key), key=key):
        names = " ".join(filter(None, map(_name, alike)))
        verb = VERBS[order[kind]]
        yield f"{verb} ({why})" if not names else f"{verb} {names} ({why})"


def _name(action: Action) -> str:
    match action:
        case CreateWorker(number=number):
            return f"w-{number}"
        case ForgetNode(node=node):
            return node
        case DrainWorker(pod=pod) | ResumeWorker(pod=pod) | DeleteWorker(pod=pod):
            return pod
        case LookInside(pod=pod):
            return pod
    return ""


# -- the stories


def rolling_update() -> Story:
    story = Story(8, update=Update(max_unavailable="25%"))
    story.world.job("w-7", 600)
    story.says("8 workers, a job of 10 minutes on w-7; the user sets another image, budget 25 %")
    story.world.revision = "r2"
    story.passes(60)
    return story


def bad_image() -> Story:
    story = Story(4, update=Update(max_unavailable=1), bad={"bad"})
    story.says("4 workers; the user sets an image that cannot be pulled, budget 1")
    story.world.revision = "bad"
    story.passes(8)
    story.says("the user takes it back")
    story.world.revision = "r1"
    story.passes(20)
    return story


def scale_in() -> Story:
    story = Story(5)
    for name, minutes in {"w-1": 30, "w-2": 5, "w-3": 90, "w-4": 12}.items():
        story.world.job(name, minutes * 60)
    story.says("5 workers; jobs end on w-2, w-4, w-1, w-3 in that order, w-0 is idle")
    story.says("the user asks for 2")
    story.world.replicas = 2
    story.passes(20, until_quiet=False)
    story.passes(100)
    return story


def cordon_during_update() -> Story:
    story = Story(4, update=Update(max_unavailable=1))
    story.says("4 workers; the user sets another image, budget 1")
    story.world.revision = "r2"
    story.passes(3, until_quiet=False)
    story.says("the node of w-1 is cordoned, and an admin drains w-0: bad disk")
    story.world.hosts[story.world.pods["w-1"].host] = True
    story.world.records["w-0"].drain = True
    story.world.records["w-0"].say("bad disk", story.world.now)
    story.passes(40)
    story.says("the node is uncordoned")
    story.world.hosts = dict.fromkeys(story.world.hosts, False)
    story.passes(10)
    return story


def deletion() -> Story:
    story = Story(3)
    story.world.job("w-1", 600)
    story.says("3 workers, a job of 10 minutes on w-1; the user deletes the NodeSet")
    story.operator.decide = farewell.plan
    story.world.deleted_at = story.world.now
    story.passes(30)
    return story


def lost_table() -> Story:
    story = Story(4, each_s=15)
    story.world.job("w-2", 300)
    story.says("4 workers, a job on w-2; slurmctld loses its table")
    story.world.lose_table(others=True)
    story.passes(120)
    return story


STORIES = (rolling_update, bad_image, scale_in, cordon_during_update, deletion, lost_table)


@pytest.mark.parametrize("tell", STORIES, ids=lambda tell: tell.__name__)
def test_a_story_of_workers_goes_as_ever(tell, rewrite):
    file = HERE / f"{tell.__name__.replace('_', '-')}.txt"
    told = tell().text()
    if rewrite:
        file.write_text(told)
    assert file.read_text() == told


def test_every_file_is_a_story():
    names = {tell.__name__.replace("_", "-") for tell in STORIES}
    assert {path.stem for path in HERE.iterdir()} == names
