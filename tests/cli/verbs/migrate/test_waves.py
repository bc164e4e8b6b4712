"""The conductor of runs, which are stand-ins here: they end as a test says, some only when they are interrupted."""

import os
import queue
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cli.errors import CommandError, UsageError
from cli.verbs.migrate.event_documents import Facts
from cli.verbs.migrate.fleet_run import Conductor
from cli.verbs.migrate.run import GroupRun
from cli.verbs.migrate.telling import JsonLines
from migration.execution.fleet import Fleet, FleetGroup, GroupPhase, WaveOptions
from migration.execution.stops import ExecutionStop, StopRule

pytestmark = pytest.mark.usefixtures("handled_interrupts")
FINISHED, STOPPED, HELD, WAITING = (
    GroupPhase.FINISHED, GroupPhase.STOPPED, GroupPhase.HELD, GroupPhase.WAITING,
)  # fmt: skip


@dataclass(slots=True, kw_only=True)
class StandIn:
    """`end`: the rule that stops it, or what it raises; None: it finishes. `presses`: how often Ctrl-C is pressed while
    it runs; then it ends only when it has been interrupted that often."""

    end: StopRule | BaseException | None = None
    presses: int = 0
    interrupts: int = 0
    is_started: bool = False
    directory: Any = field(default_factory=lambda: SimpleNamespace(close=lambda: None))

    def start(self) -> None:
        self.is_started = True
        for _ in range(self.presses):
            os.kill(os.getpid(), signal.SIGINT)

    def interrupt(self) -> None:
        self.interrupts += 1

    def hold(self) -> None:
        self.interrupt()

    @property
    def is_running(self) -> bool:
        return self.interrupts < self.presses

    @property
    def is_finished(self) -> bool:
        return self.end is None

    @property
    def error(self) -> BaseException | None:
        return self.end if isinstance(self.end, BaseException) else None

    @property
    def status(self) -> Any:
        rule = self.end if isinstance(self.end, StopRule) else None
        stop = None if rule is None else ExecutionStop(rule=rule, message="It stopped.", at_s=0.0)
        return SimpleNamespace(stop=stop, rollback_stop=None)


def conducted(options: WaveOptions, runs: Mapping[str, StandIn]) -> tuple[dict[str, GroupPhase], list[Facts]]:
    """How each group ended, and what was noted of the fleet."""
    noted: list[Facts] = []

    def begin(run: StandIn) -> GroupRun:
        if isinstance(run.end, UsageError):  # another process carries it out
            raise run.end
        return cast(GroupRun, run)

    conductor = Conductor(
        fleet=Fleet([FleetGroup(name=name, members=1) for name in runs], options),
        runs={name: partial(begin, run) for name, run in runs.items()},
        telling=JsonLines(),
        heard=queue.SimpleQueue(),
        report=lambda run: None,
        note=noted.append,
    )
    return dict(conductor.conduct().phases), noted


@pytest.mark.parametrize(
    ("options", "runs", "ends"),
    [
        (WaveOptions(at_once=2), {"a": StandIn(), "b": StandIn(), "c": StandIn()}, [FINISHED] * 3),
        (WaveOptions(at_once=2), {"a": StandIn(end=StopRule.GATE), "b": StandIn()}, [STOPPED, WAITING]),
        (
            WaveOptions(at_once=2, most_stopped=2),
            {"a": StandIn(), "b": StandIn(end=UsageError("taken")), "c": StandIn(), "d": StandIn()},
            [FINISHED, STOPPED, FINISHED, FINISHED],
        ),
        (
            WaveOptions(at_once=2),
            {"a": StandIn(), "b": StandIn(), "c": StandIn(end=CommandError("lost")), "d": StandIn()},
            [FINISHED, FINISHED, STOPPED, WAITING],
        ),
        (WaveOptions(), {"a": StandIn(end=StopRule.INTERRUPTED, presses=1), "b": StandIn()}, [HELD, WAITING]),
        (WaveOptions(), {"a": StandIn(presses=2), "b": StandIn()}, [FINISHED, WAITING]),
    ],
    ids=["waves", "canary", "taken", "max-stopped", "interrupted", "interrupted twice"],
)
def test_groups_begin_and_end_as_the_fleet_says(
    options: WaveOptions, runs: dict[str, StandIn], ends: list[GroupPhase]
) -> None:
    handler = signal.getsignal(signal.SIGINT)
    phases, noted = conducted(options, runs)
    assert phases == dict(zip(runs, ends, strict=True))
    assert signal.getsignal(signal.SIGINT) is handler
    begun = [
        name for facts in noted if facts["event"] == "wave-began" for name in cast(list[str], facts["groups"])
    ]
    assert begun == [name for name, end in phases.items() if end is not WAITING]
    ended = {facts["group"]: facts["state"] for facts in noted if facts["event"] == "group-ended"}
    assert ended == {name: end.value for name, end in phases.items() if end is not WAITING}
