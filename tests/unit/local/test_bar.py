import io
import threading

import pytest
from rich.console import Console

from shoal.local.bar import Bars, Log, clock, progress


class Clock:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def make_log() -> tuple[Log, Clock, io.StringIO]:
    now, stream = Clock(), io.StringIO()
    return Log(stream, now), now, stream


def test_a_log_says_when_a_part_starts_and_how_long_it_took():
    log, now, stream = make_log()
    with log.part("programs", 400):
        now.seconds += 12.34
    assert stream.getvalue().splitlines() == [
        "[ 0:00] programs: started, about 6:40",
        "[ 0:12] programs: done in 12.3 s",
    ]


def test_a_part_says_something_at_most_every_15_seconds():
    log, now, stream = make_log()
    with log.part("programs", 400) as part:
        for i in range(60):
            now.seconds += 1
            part.at(f"compiling p{i}", i + 1, 120)
    assert stream.getvalue().splitlines()[1:-1] == [
        "[ 0:15] programs: compiling p14, 12%, 1:45 left",
        "[ 0:30] programs: compiling p29, 25%, 1:30 left",
        "[ 0:45] programs: compiling p44, 38%, 1:15 left",
        "[ 1:00] programs: compiling p59, 50%, 1:00 left",
    ]


def test_without_a_count_the_expected_time_says_what_is_left():
    log, now, stream = make_log()
    with log.part("images", 40) as part:
        part.at("unpacking")
        now.seconds += 30
        log.tick()
        now.seconds += 30
        log.tick()
    assert stream.getvalue().splitlines()[1:-1] == [
        "[ 0:30] images: unpacking, 75%, 0:10 left",
        "[ 1:00] images: unpacking, 99%, later than expected",
    ]


def test_a_part_that_says_nothing_still_shows_that_it_is_alive():
    log, now, stream = make_log()
    with log.part("images", 100):
        now.seconds += 20
        log.tick()
    assert "[ 0:20] images: at work, 20%, 1:20 left" in stream.getvalue()


def test_a_part_that_breaks_off_is_said_but_not_counted():
    log, _, stream = make_log()
    with pytest.raises(ValueError, match="no"), log.part("programs", 400):
        raise ValueError("no")
    assert stream.getvalue().endswith("programs: stopped after 0.0 s\n")
    assert log.parts == {}


def test_the_seconds_of_finished_parts_are_kept():
    log, now, _ = make_log()
    with log.part("programs", 400):
        now.seconds += 2
        with log.part("images", 10):
            now.seconds += 3
    assert log.parts == {"programs": 5.0, "images": 3.0}


@pytest.mark.parametrize("shown", ["log", "bars"])
def test_parts_of_many_threads_all_end(shown):
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=100)
    every = Log(stream) if shown == "log" else Bars(console)

    def work(i: int) -> None:
        with every.part(f"part{i}", 1) as part:
            for k in range(50):
                part.at("step", k, 50)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(every.parts) == sorted(f"part{i}" for i in range(16))
    assert all(f"part{i}: done in" in stream.getvalue() for i in range(16))


def test_bars_show_what_is_done_how_far_it_is_and_what_is_left():
    now = Clock()
    bars = Bars(Console(file=io.StringIO(), force_terminal=True, width=120), now)
    with bars.part("programs", 400) as part, bars.part("images", 40):
        now.seconds += 10
        part.at("compiling k8s.io/api", 25, 100)
        paper = Console(file=io.StringIO(), width=120)
        paper.print(bars.table())
    drawn = paper.file.getvalue()
    assert "programs" in drawn
    assert "25% 0:10, 0:30 left compiling k8s.io/api" in drawn
    assert "images" in drawn


def test_a_stream_that_is_no_terminal_gets_a_log():
    assert isinstance(progress(io.StringIO()), Log)


def test_a_terminal_gets_bars():
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    assert isinstance(progress(Terminal()), Bars)


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (59.6, "1:00"), (605, "10:05")])
def test_durations_read_as_minutes_and_seconds(seconds, text):
    assert clock(seconds) == text
