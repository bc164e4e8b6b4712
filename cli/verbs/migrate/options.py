"""Options of `kohort migrate`: what restarts a member, what stops a run, and how the runs of a fleet are spread."""

from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Annotated

from cli.options import duration_option, option
from migration.execution.fleet import Spread
from migration.model import SESSION_S

_MOST_S = 86_400.0
_limits = partial(duration_option, unit="s", least_s=1.0, most_s=_MOST_S, rich_help_panel="What stops it")
_stops = partial(option, rich_help_panel="What stops it")
_fleet = partial(option, rich_help_panel="Plans of several groups")


class OnStop(Enum):
    STOP = "stop"
    ROLLBACK = "rollback"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    restart: Annotated[
        str,
        option(
            "--restart",
            "Command that restarts, stops or starts one member, run without a shell: docs/migrate.",
            "COMMAND",
        ),
    ]
    restart_timeout: Annotated[
        float, _limits("--restart-timeout", "Longest time that the command may take; then it is ended.")
    ] = 300.0
    gate_timeout: Annotated[
        float, _limits("--gate-timeout", "Longest time to wait for a gate after the last command of a round.")
    ] = 300.0
    return_timeout: Annotated[
        float, _limits("--return-timeout", "Longest time that a member may be away, or take to return.")
    ] = 120.0
    watch: Annotated[
        float,
        _limits(
            "--watch",
            "How long to watch the group after the last gate: a process that was killed is a member that long.",
            least_s=0.0,
        ),
    ] = SESSION_S
    tolerance: Annotated[
        float,
        _stops(
            "--tolerance", "Factor of the rehearsed costs that a step may cost.", "N", min=1.0, max=1000.0
        ),
    ] = 2.0
    accept_drift: Annotated[
        bool, _stops("--accept-drift", "Continue although topics have changed since the plan was made.")
    ] = False
    unrehearsed: Annotated[
        bool, _stops("--unrehearsed", "Carry out a plan that cannot be rehearsed: no cost can stop it.")
    ] = False
    on_stop: Annotated[
        OnStop,
        _stops("--on-stop", "What follows a stop: nothing, or the rollback, gate by gate."),
    ] = OnStop.STOP
    back: Annotated[bool, _stops("--back", "Roll back what was begun, and do not continue.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetOptions:
    first: Annotated[
        list[str] | None,
        _fleet("--first", "Group that goes first, alone; by default the smallest; repeatable.", "GROUP"),
    ] = None
    at_once: Annotated[int, _fleet("--at-once", "Groups of a wave.", "N", min=1, max=1000)] = 1
    pause: Annotated[
        float,
        duration_option(
            "--pause",
            "Pause between two waves.",
            "s",
            0.0,
            7 * _MOST_S,
            rich_help_panel="Plans of several groups",
        ),
    ] = 0.0
    spread: Annotated[
        list[Spread] | None,
        _fleet("--spread", "What two groups of a wave may not share: the coordinator's broker, a host."),
    ] = None
    max_stopped: Annotated[
        int, _fleet("--max-stopped", "Number of stopped groups that ends the run.", "N", min=1)
    ] = 1
    window: Annotated[
        list[str] | None,
        _fleet(
            "--window", "Time of day in which groups begin and continue: 22:00-05:00; repeatable.", "WINDOW"
        ),
    ] = None
