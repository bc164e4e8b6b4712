"""What eight commands show on a terminal of three widths; tests/golden/screens holds them with their colors."""

from contextlib import chdir
from dataclasses import replace
from pathlib import Path

from cli.render.color import painted
from cli.render.lines import cut
from cli.verbs.watch.event_text import event_lines
from cli.verbs.watch.state import WatchObservation, WatchState
from cli.verbs.watch.view import LogLine, View, view_lines
from groups.model import Group, GroupState
from groups.snapshot import read_snapshot
from tests.cli.command import Kohort

DIRECTORY = Path(__file__).parents[2] / "golden" / "screens"
FLEET = DIRECTORY / "fleet.yaml"
START_MS = 1_795_665_401_085
WIDTHS = (80, 120, 200)
SCREENS = {
    "list": "list",
    "describe": "describe --all-groups",
    "migration": "describe payments-audit --migration",
    "plan": "plan invoices-service-production --to cooperative --client java:3.7.0",
    "blocked-plan": "plan payments-audit --to cooperative",
    "gate": "gate {plan} --step 1 --round 1",
    "diagnose": "diagnose --all-groups",
    "dry-run": "dry-run invoices-service-production --compare",
}
"""Commands by the name of their screen."""
NAMES = (*SCREENS, "watch")


def screen(kohort: Kohort, name: str, columns: int, directory: Path) -> str:
    """What a command shows; `directory` is for the plan of a gate."""
    if name == "watch":
        return _watched(columns)
    command = SCREENS[name].format(plan=directory / "PLAN.yaml")
    if name == "gate":
        plan = kohort.quick(SCREENS["plan"], "--snapshot", FLEET, "--output", "yaml").succeeded()
        (directory / "PLAN.yaml").write_text(plan.stdout)
    with chdir(DIRECTORY):
        return kohort.screen(command, "--snapshot", FLEET.name, columns=columns)


def _watched(columns: int) -> str:
    """A group in a rebalance at its second observation: one member has left since the first."""
    snapshot = read_snapshot(FLEET)
    group, topics = snapshot.groups["payments-audit"], snapshot.topics
    first = replace(group, state=GroupState.STABLE, group_epoch=4)

    def observed(at_ms: int, group: Group) -> WatchObservation:
        return WatchObservation(asked_ms=at_ms, at_ms=at_ms + 10, groups={group.id: group}, topics=topics)

    course, _ = WatchState().step(observed(START_MS, first))
    after, happened = course.step(observed(START_MS + 1000, group))
    lines = event_lines(happened, after.labels)
    log = [LogLine(at_ms=at_ms, group=name, text=text) for at_ms, name, text in lines]
    shown = View(state=after, before=course, log=log, title="localhost:9092, every 1 s")
    return "".join(painted(cut(line, columns)) + "\n" for line in view_lines(shown, columns, 24))
