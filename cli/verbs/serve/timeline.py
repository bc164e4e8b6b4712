"""Timed faults of the server, from a faults file and from a scenario of `kohort simulate`.

From a scenario, the server plays the events of topics, coordinators and the network. Members must be real clients.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coordinator.server.cluster import Cluster
from coordinator.server.fault_timeline import play
from coordinator.server.faults import events as server
from coordinator.server.faults.reading import TimedEvent, network_rules, read_faults
from coordinator.simulation.scenario import ChangeTopic, CoordinatorFault, FailCoordinator, Scenario
from groups.counts import counted

SEED = 1
"""The seed of a random scenario."""


@dataclass(slots=True, kw_only=True)
class Timeline:
    """Timed events. `topics` (NAME:PARTITIONS) and `settings` are a scenario's initial ones, `remarks` for users."""

    topics: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    events: Sequence[TimedEvent] = ()
    remarks: Sequence[str] = ()
    _playing: asyncio.Task[None] | None = None

    def begin(self, cluster: Cluster, report: Callable[[str], None]) -> None:
        """Play the events from now on, in the running event loop; `report` is called with a line for each."""
        self._playing = asyncio.get_running_loop().create_task(play(cluster, self.events, report))


def read_timeline(faults: Path | None, scenario: str | None) -> Timeline:
    """The timeline of either or both. :raises UsageError: unknown scenario :raises TreeError: invalid file"""
    timeline = Timeline() if scenario is None else _scenario(scenario)
    if faults is None:
        return timeline
    from coordinator.server.served import apis_with_faults

    events = (*timeline.events, *read_faults(faults, apis_with_faults()))
    timeline.events = sorted(events, key=lambda timed: timed.at_s)
    return timeline


def _scenario(called: str) -> Timeline:
    from cli.verbs.simulate.action import read

    return timeline_of(read(called).scenario_of(SEED))


def timeline_of(scenario: Scenario) -> Timeline:
    """The events of a scenario that a server can play, and remarks on the rest."""
    network = [TimedEvent(at_s=0.0, event=rule) for rule in network_rules(scenario.faults)]
    return Timeline(
        topics=[f"{name}:{partitions}" for name, partitions in scenario.topics.items()],
        settings=scenario.settings,
        events=(*network, *_events(scenario)),
        remarks=tuple(_remarks(scenario)),
    )


def _events(scenario: Scenario) -> Iterator[TimedEvent]:
    present = set(scenario.topics)
    for event in scenario.events:
        if isinstance(event, ChangeTopic):
            yield TimedEvent(at_s=event.at, event=_topic(event, event.topic in present))
            if event.partitions is None:
                present.discard(event.topic)
            else:
                present.add(event.topic)
        elif isinstance(event, FailCoordinator):
            crashes = event.fault is CoordinatorFault.CRASH
            fault = server.CoordinatorFault.CRASH if crashes else server.CoordinatorFault.MOVE
            for_s = 0.0 if event.fault is CoordinatorFault.ZOMBIE else event.for_s
            yield TimedEvent(at_s=event.at, event=server.FailCoordinator(fault=fault, for_s=for_s))


def _topic(event: ChangeTopic, is_there: bool) -> server.ChangeTopic:
    if event.partitions is None:
        return server.ChangeTopic(topic=event.topic, delete=True)
    if event.recreated:
        return server.ChangeTopic(topic=event.topic, recreate=event.partitions)
    if is_there:
        return server.ChangeTopic(topic=event.topic, partitions=event.partitions)
    return server.ChangeTopic(topic=event.topic, create=event.partitions)


def _remarks(scenario: Scenario) -> Iterator[str]:
    """Remarks on the events that the server does not play."""
    of_members = [each for each in scenario.events if not isinstance(each, ChangeTopic | FailCoordinator)]
    if of_members:
        events = counted(len(of_members), "event")
        names = _listed(sorted(scenario.members))
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
            (
                "compacted",
                any(isinstance(each, FailCoordinator) and each.compacted for each in scenario.events),
            ),
        )
        if is_there
    ]
    if left_out:
        yield f"{scenario.name}: only a simulation has {_listed(left_out)}"
    if any(
        isinstance(each, FailCoordinator) and each.fault is CoordinatorFault.ZOMBIE
        for each in scenario.events
    ):
        yield f"{scenario.name}: a coordinator: zombie moves at once here; the old one does not linger"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
