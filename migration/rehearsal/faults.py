"""The faults file of a rehearsal: faults of network, coordinator and processes while a plan is played.

It has the keys of a scenario file (docs/scenarios.md): `faults`, and `events` of the kinds in `VERBS`. Times count
from the beginning of the first round, or of the round they name: `2.1+5` is five seconds into round 1 of step 2.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from coordinator.faults import FailCoordinator, Seconds
from coordinator.simulation.scenario import (
    Faults,
    Freeze,
    Kill,
    NetworkPartition,
    Pause,
    Restart,
)
from coordinator.simulation.scenario_checks import unknown
from coordinator.simulation.scenario_file import FORMAT_VERSION, TREES, no_verb
from coordinator.simulation.scenario_file import VERBS as ALL_VERBS
from groups.trees import Malformed, shown
from groups.yaml_files import TreeError, check_format, load_tree, read_text
from migration.rehearsal.simulated_members import StepRound

Fault: TypeAlias = Pause | Freeze | Kill | Restart | FailCoordinator
VERBS: Mapping[str, type] = {
    verb: ALL_VERBS[verb] for verb in ("pause", "freeze", "restart", "kill", "coordinator")
}
"""The events of a scenario that are faults, not an operator's actions."""
KEYS = ("kohort", "faults", "events")
_ROUND = re.compile(r"([0-9]{1,6})\.([0-9]{1,6})\+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFaults:
    """The contents of a faults file. Times of events and partitions are seconds from the beginning of their round."""

    network: Faults = field(default_factory=Faults)
    """Faults from the first round on, without network partitions."""
    events: Mapping[StepRound | None, tuple[Fault, ...]] = field(default_factory=dict)
    """By the round from which their times count; None: the first round that is played. A restart's script is empty:
    the member restarts unchanged."""
    partitions: Mapping[StepRound | None, tuple[NetworkPartition, ...]] = field(default_factory=dict)


NO_FAULTS = PlanFaults()


def read_faults(file: Path, members: Collection[str], places: Collection[StepRound]) -> PlanFaults:
    """The faults of a file, for a plan with these members (by their names in rounds) and rounds.

    :raises TreeError: it cannot be read, or is not a faults file of this plan; with line and column
    """
    text = read_text(file)
    tree = load_tree(file, text)
    try:
        return _Reader(members, places).read(tree)
    except Malformed as error:
        raise TreeError.at(file, text, error) from None


class _Reader:
    def __init__(self, members: Collection[str], places: Collection[StepRound]) -> None:
        self._members, self._places = members, places

    def read(self, tree: Any) -> PlanFaults:
        check_format(tree, FORMAT_VERSION, "faults file")
        for key in tree:
            if key not in KEYS:
                raise Malformed(f"unknown; a faults file has {', '.join(KEYS)}", key)
        events: dict[StepRound | None, tuple[Fault, ...]] = {}
        for number, each in enumerate(_listed(tree.get("events"), "events")):
            try:
                place, event = self._event(each)
            except Malformed as error:
                raise error.below(number).below("events") from None
            events[place] = (*events.get(place, ()), event)
        network, partitions = self._network(tree.get("faults"))
        return PlanFaults(network=network, events=events, partitions=partitions)

    def _event(self, tree: Any) -> tuple[StepRound | None, Fault]:
        if not isinstance(tree, dict):
            raise Malformed(f"expected a mapping with `at` and a verb, found {shown(tree)}")
        verb = next((each for each in VERBS if each in tree), None)
        if verb is None:
            raise no_verb(tree, VERBS)
        place, at_s = self._moment(tree, "at")
        event: Fault = TREES.read(VERBS[verb], {**tree, "at": at_s})
        if not isinstance(event, FailCoordinator):
            self._known(event.member, verb)
        if isinstance(event, Pause | Freeze) and event.for_s == 0:
            raise Malformed("must be longer than 0 seconds", "for")
        return place, event

    def _network(self, tree: Any) -> tuple[Faults, Mapping[StepRound | None, tuple[NetworkPartition, ...]]]:
        if tree is None:
            return Faults(), {}
        if not isinstance(tree, dict):
            raise Malformed(f"expected a mapping, found {shown(tree)}", "faults")
        listed = tree.get("partition")
        listed = [listed] if isinstance(listed, dict) else listed
        try:
            network = TREES.read(Faults, {key: each for key, each in tree.items() if key != "partition"})
            found: dict[StepRound | None, tuple[NetworkPartition, ...]] = {}
            for number, each in enumerate(_listed(listed, "partition")):
                try:
                    place, partition = self._partition(each)
                except Malformed as error:
                    # A single partition needs no list, and then its path has no number.
                    at = error if isinstance(tree["partition"], dict) else error.below(number)
                    raise at.below("partition") from None
                found[place] = (*found.get(place, ()), partition)
        except Malformed as error:
            raise error.below("faults") from None
        return network, found

    def _partition(self, tree: Any) -> tuple[StepRound | None, NetworkPartition]:
        if not isinstance(tree, dict):
            raise Malformed(f"expected a mapping with members, from and to, found {shown(tree)}")
        (place, start_s), (other, end_s) = self._moment(tree, "from"), self._moment(tree, "to")
        if other != place:
            raise Malformed("must count from the same round as `from`", "to")
        if end_s <= start_s:
            raise Malformed("must be later than `from`", "to")
        partition: NetworkPartition = TREES.read(NetworkPartition, {**tree, "from": start_s, "to": end_s})
        for member in partition.members:
            self._known(member, "members")
        return place, partition

    def _known(self, member: str, key: str) -> None:
        if member not in self._members:
            raise Malformed(unknown("member", member, self._members), key)

    def _moment(self, tree: Mapping[str, Any], key: str) -> tuple[StepRound | None, float]:
        if key not in tree:
            raise Malformed("missing", key)
        text = str(tree[key])
        found = _ROUND.match(text)
        try:
            seconds: float = TREES.read(Seconds, text[found.end() :] if found else text)
        except Malformed as error:
            raise Malformed(f"{error}, or with STEP.ROUND+seconds from the start of a round", key) from None
        if found is None:
            return None, seconds
        step, round_ = found.groups()
        place = int(step), int(round_)
        if place not in self._places:
            known = [f"{step}.{round_}" for step, round_ in self._places]
            raise Malformed(unknown("round", f"{place[0]}.{place[1]}", known), key)
        return place, seconds


def _listed(trees: Any, key: str) -> Sequence[Any]:
    if trees is None:
        return ()
    if not isinstance(trees, list):
        raise Malformed(f"expected a list, found {shown(trees)}", key)
    return trees


def from_now(partition: NetworkPartition, now_s: float) -> NetworkPartition:
    """The partition with its times on the world's clock."""
    return replace(partition, start_s=now_s + partition.start_s, end_s=now_s + partition.end_s)
