"""The live view: what it shows of runs, on any terminal."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cli.render.lines import cut, plain
from cli.verbs.migrate.event_documents import Event
from cli.verbs.migrate.lines import event_texts
from cli.verbs.migrate.telling import FleetStatus, InHand, RunStatus
from cli.verbs.migrate.view import LiveState, LiveView, LoggedEvent, view_lines
from cli.verbs.migrate.view_run import Cost, bar, cells
from migration.execution.machine import Phase
from tests.cli.command import Kohort
from tests.cli.verbs.migrate import statuses
from tests.cli.verbs.migrate.stories import COMMANDS, resumed
from tests.cli.verbs.watch.running import ENTER, LEAVE, on_terminal
from tests.support.golden import assert_recorded
from tests.support.terminals import resize

WIDTHS = (80, 120)
LONG = "orders-" + "x" * 186 + "-{:06}"


def log_of(documents: Sequence[Mapping[str, object]]) -> list[LoggedEvent]:
    events = [Event(document) for document in documents]
    return [LoggedEvent(event.at, event.group, text) for event in events for text in event_texts(event)]


LOG = log_of(resumed().documents[:12])
BACK = statuses.status(
    phase=Phase.ACTING, is_rollback=True, stop=statuses.MISSING, costs={0: statuses.costs()}
)


def fleet(running: int = 8, stopped: int = 1, finished: int = 40, to_come: int = 251) -> LiveState:
    runs = [
        *(statuses.finished(f"done-{number}") for number in range(finished)),
        *(statuses.waiting(LONG.format(number), lasted_s=10.0) for number in range(running)),
        *(statuses.stopped(f"payments-{number}") for number in range(stopped)),
    ]
    text = "Next wave: 8 groups in 4 min. Window 22:00-05:00: closes in 2 h 56 min."
    groups = FleetStatus(groups=running + stopped + finished + to_come, to_come=to_come, text=text)
    return LiveState(runs=runs, fleet=groups, log=LOG, commands={"payments-0": COMMANDS})


VIEWS = {
    "restarting": LiveState(runs=[statuses.status()], log=LOG),
    "waiting": LiveState(runs=[statuses.waiting()], log=LOG),
    "waiting, interrupted": LiveState(runs=[statuses.waiting()], log=LOG, interrupts=1),
    "rolling back": LiveState(runs=[BACK], log=LOG),
    "300 groups": fleet(),
}
ENDS = {
    "stopped": LiveState(runs=[statuses.stopped()], log=LOG, commands={"payments": COMMANDS}),
    "finished": LiveState(runs=[statuses.finished()], log=LOG),
    "300 groups, at the end": fleet(running=0, to_come=0),
}


def shown(view: LiveState, width: int, height: int | None) -> list[str]:
    return [plain(cut(line, width)) for line in view_lines(view, width, height)]


def test_the_view_is_as_before_and_fits() -> None:
    answers: dict[str, str] = {}
    for width in WIDTHS:
        for name, view in VIEWS.items():
            lines = shown(view, width, 24)
            assert len(lines) <= 24
            answers[f"{name}, {width} columns"] = "\n".join(lines)
        for name, view in ENDS.items():
            answers[f"left by {name}, {width} columns"] = "\n".join(shown(view, width, None))
    assert_recorded("migrate/view.txt", answers)
    # A sentence that is cut would be misread: only titles and names are shortened.
    whole = {"\n".join(plain(line) for line in view_lines(view, 80, 60)) for view in VIEWS.values()}
    assert whole == {"\n".join(shown(view, 80, 60)) for view in VIEWS.values()}


def runs(draw: st.DrawFn) -> RunStatus:
    name = draw(st.text(min_size=1, max_size=200))
    make = draw(st.sampled_from((statuses.status, statuses.waiting, statuses.stopped, statuses.finished)))
    hand = st.builds(InHand, label=st.text(max_size=200), action=st.just("stop"), for_s=st.just(1.0))
    lag, lag_s = draw(st.none() | st.integers(0, 10**12)), draw(st.none() | st.floats(0, 10**7))
    plan = replace(statuses.two_bounces(), group=name)
    state: RunStatus = make(in_hand=tuple(draw(st.lists(hand))), lag=lag, lag_s=lag_s, plan=plan)
    return state


@given(st.lists(st.composite(runs)(), max_size=12), st.integers(20, 200), st.integers(4, 60), st.booleans())
def test_any_view_fits_any_terminal(states: list[RunStatus], width: int, height: int, is_fleet: bool) -> None:
    groups = FleetStatus(groups=len(states), to_come=0) if is_fleet else None
    lines = shown(LiveState(runs=states, fleet=groups, log=LOG), width, height)
    assert len(lines) <= height
    assert all(cell_len(line) <= width and line.isprintable() for line in lines)


def test_what_needs_a_person_is_seen_first_of_300_groups() -> None:
    lines = shown(fleet(running=290, stopped=2, finished=8, to_come=0), 80, 24)
    rows = [line.split()[0] for line in lines if " 1/2 " in line]
    assert rows[:2] == ["payments-0", "payments-1"]
    assert lines[1].startswith("8 finished, 2 stopped, 290 running")
    assert any("more lines" in line for line in lines)


@pytest.mark.parametrize(
    ("rounds", "done", "in_progress", "text"),
    [
        (0, 0, "", ""),
        (3, 1, ">", "[#>.]"),
        (3, 3, "", "[###]"),
        (48, 0, ">", "[>.......................]"),
        (48, 47, ">", "[#######################>]"),
        (48, 48, "", "[########################]"),
        (1000, 999, "!", "[#######################!]"),
    ],
)
def test_rounds_are_cells(rounds: int, done: int, in_progress: str, text: str) -> None:
    assert cells(rounds, done, in_progress) == text


@pytest.mark.parametrize(
    ("value", "median", "worst", "limit", "text"),
    [
        (0.0, 2.0, 4.0, 8.0, "[--m-w---]"),
        (5.0, 2.0, 4.0, 8.0, "[##m#w---]"),
        (9.0, 2.0, 4.0, 8.0, "[##m#w##>]"),
        (3.0, 2.0, 4.0, None, "[####m#-w]"),
        (3.0, None, None, 8.0, "[###-----]"),
        (3.0, None, None, None, ""),
        (None, 2.0, 4.0, 8.0, ""),
        (1.0, 0.0, 0.0, 8.0, "[w-------]"),
    ],
)
def test_a_bar_ends_at_the_limit(
    value: float | None, median: float | None, worst: float | None, limit: float | None, text: str
) -> None:
    assert bar(Cost("time", "lasted_s", value, median, worst, limit), 10) == text


def test_the_terminal_is_given_back_with_the_last_state(kohort: Kohort, tmp_path: Path) -> None:
    arguments = ("-m", "tests.cli.verbs.migrate.live")
    with on_terminal(kohort, tmp_path, *arguments, program=sys.executable) as shown:
        shown.wait_for(lambda run: len(run.frames) > 1, "some pictures")
        resize(shown.controller, 40, 12)
        shown.wait_for(lambda run: len(run.frames[-1]) <= 12, "a picture of that size")
        assert shown.interrupt() == 0
        frames, left, said = shown.frames, shown.left_behind, shown.stdout
    assert max(cell_len(line) for line in frames[-1]) <= 40
    assert frames[0][0].startswith("kohort migrate  payments")
    assert said.count(ENTER) == said.count(LEAVE) == 1
    assert "\x1b" not in said.rpartition(LEAVE)[2]
    assert [line for line in left if line.startswith("Stopped by the rule member-missing")]
    assert left[-2:] == ["the next line", ""]


def test_a_terminal_that_is_closed_does_not_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as terminal:
        monkeypatch.setattr("sys.stdout", terminal)
        with LiveView() as view:
            for _ in range(3):
                view.event({})  # So that it is drawn at once
                view.draw([statuses.status()])
            view.end({})
