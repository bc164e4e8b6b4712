"""What happens in the run of a fleet, besides the events of its groups, as documents: the lines of the journal and of
`--output json`. Schema: docs/schemas/migrate.json."""

import time
from collections.abc import Mapping, Sequence

from cli.verbs.migrate.event_documents import FORMAT_VERSION, EventDocument, Facts, stop_data, user_name
from migration.execution.fleet import FleetWait, GroupPhase, WaveOptions
from migration.execution.stops import ExecutionStop


def fleet_document(facts: Facts) -> EventDocument:
    """An event of the fleet, now."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"kohort": FORMAT_VERSION, "command": "migrate", "at": at, **facts}


def fleet_began(
    groups: Sequence[str],
    finished: Sequence[str],
    left_out: Sequence[Facts],
    options: WaveOptions,
    *,
    resumed: bool,
) -> Facts:
    """`finished`: groups that a former run finished; `resumed`: whether there was one."""
    return {
        "event": "fleet-began",
        "resumed": resumed,
        "who": user_name(),
        "groups": list(groups),
        "finished": list(finished),
        "left_out": list(left_out),
        "options": {
            "first": list(options.first),
            "at_once": options.at_once,
            "pause_s": options.pause_s,
            "spread": sorted(spread.value for spread in options.spread),
            "max_stopped": options.most_stopped,
            "windows": list(map(str, options.windows)),
        },
    }


def wave_began(wave: int, groups: Sequence[str], *, canary: bool) -> Facts:
    return {"event": "wave-began", "wave": wave, "canary": canary, "groups": list(groups)}


def waits(wait: FleetWait) -> Facts:
    """Nothing is running: the fleet waits for the window, or for the end of a pause."""
    until = None if wait.until is None else f"{wait.until:%Y-%m-%dT%H:%M:%SZ}"
    return {"event": "fleet-waits", "why": wait.why, "until": until}


def group_ended(group: str, phase: GroupPhase, stop: ExecutionStop | None, error: str) -> Facts:
    """`error`: why its plan could not be carried out at all."""
    stopped = None if stop is None else stop_data(stop)
    facts: Facts = {"stopped": stopped, "error": error or None}
    return {"event": "group-ended", "group": group, "state": phase.value, **facts}


def fleet_ended(phases: Mapping[str, GroupPhase], ends: str, lasted_s: float) -> Facts:
    """`ends`: why not all groups began; empty if they did."""
    states = [phase.value for phase in phases.values()]
    counts = {phase.value: states.count(phase.value) for phase in GroupPhase if phase.value in states}
    return {"event": "fleet-ended", "states": counts, "reason": ends or None, "lasted_s": round(lasted_s, 1)}
