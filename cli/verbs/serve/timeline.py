"""Timed faults of the server, from a faults file, or the events of a scenario that need no simulated members."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from coordinator.faults import ChangeTopic, CoordinatorFault, FailCoordinator, FaultEvent
from coordinator.server.cluster import Cluster
from coordinator.server.fault_actions import play
from coordinator.server.faults.reading import network_rules, read_faults
from coordinator.simulation.scenario import Scenario
from groups.counts import counted

SEED = 1  # the seed of a random scenario


@dataclass(slots=True, kw_only=True)
class FaultTimeline:
    """Timed events. `topics` (NAME:PARTITIONS) and `settings` are a scenario's initial ones, `remarks` for users."""

    topics: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    events: Sequence[FaultEvent] = ()
    remarks: Sequence[str] = ()
    _playing: asyncio.Task[None] | None = None

    def begin(self, cluster: Cluster, report: Callable[[str], None]) -> None:
        """Play the events from now on, in the running event loop; `report` is called with a line for each."""
        self._playing = asyncio.get_running_loop().create_task(play(cluster, self.events, report))


def read_timeline(faults: Path | None, scenario: str | None) -> FaultTimeline:
    """The timeline of either or both. Raises UsageError: unknown scenario. Raises TreeError: invalid file."""
    timeline = FaultTimeline()
    if scenario is not None:
        from cli.verbs.simulate.action import read

        timeline = timeline_of(read(scenario).scenario_of(SEED))
    if faults is None:
        return timeline
    from coordinator.server.served import apis_with_faults

    events = (*timeline.events, *read_faults(faults, apis_with_faults()))
    timeline.events = sorted(events, key=lambda event: event.at)
    return timeline


def timeline_of(scenario: Scenario) -> FaultTimeline:
    """The events of a scenario that a server can play, and remarks on the rest."""
    return FaultTimeline(
        topics=[f"{name}:{partitions}" for name, partitions in scenario.topics.items()],
        settings=scenario.settings,
        events=(*network_rules(scenario.faults), *_events(scenario)),
        remarks=tuple(_remarks(scenario)),
    )


def _events(scenario: Scenario) -> Iterator[FaultEvent]:
    for event in scenario.events:
        if isinstance(event, ChangeTopic):
            yield event
        elif isinstance(event, FailCoordinator) and event.fault is CoordinatorFault.ZOMBIE:
            yield FailCoordinator(at=event.at, fault=CoordinatorFault.MOVE)
        elif isinstance(event, FailCoordinator):
            yield replace(event, compacted=False)


def _remarks(scenario: Scenario) -> Iterator[str]:
    failures = [event for event in scenario.events if isinstance(event, FailCoordinator)]
    of_members = [event for event in scenario.events if not isinstance(event, ChangeTopic | FailCoordinator)]
    if of_members:
        events = counted(len(of_members), "event")
        names = ", ".join(sorted(scenario.members))
        yield f"{scenario.name}: {events} of members are skipped, which your own clients must play: {names}"
    faults = scenario.faults
    left_out = [
        name
        for name, is_there in (
            ("duplicate", faults.duplicate > 0),
            ("reorder", faults.reorder),
            ("partition", bool(faults.partitions)),
            ("without", bool(scenario.without)),
            ("metadata_delay_s", scenario.metadata_delay_s > 0),
            ("compacted", any(event.compacted for event in failures)),
        )
        if is_there
    ]
    if left_out:
        yield f"{scenario.name}: only a simulation has {', '.join(left_out)}"
    if any(event.fault is CoordinatorFault.ZOMBIE for event in failures):
        yield f"{scenario.name}: a coordinator: zombie moves at once here; the old one does not linger"
