"""The faults file of a rehearsal (docs/scenarios.md): `2.1+5` is five seconds into round 1 of step 2."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias, TypeVar

from coordinator.faults import FailCoordinator, Seconds
from coordinator.simulation.scenario import Freeze, Kill, NetworkFaults, NetworkPartition, Pause, Restart
from coordinator.simulation.scenario_checks import unknown
from coordinator.simulation.scenario_file import FORMAT_VERSION, TREES, no_verb
from coordinator.simulation.scenario_file import VERBS as ALL_VERBS
from groups.trees import Malformed, shown
from groups.yaml_files import TreeError, check_format, load_tree, read_text
from migration.rehearsal.simulated_members import StepRound

T = TypeVar("T")
Tree: TypeAlias = dict[str, object]
Fault: TypeAlias = Pause | Freeze | Kill | Restart | FailCoordinator
_FAULTS = ("pause", "freeze", "restart", "kill", "coordinator")
VERBS: Mapping[str, type] = {verb: ALL_VERBS[verb] for verb in _FAULTS}
"""The events of a scenario that are faults, not an operator's actions."""
KEYS = ("kohort", "faults", "events")
_ROUND = re.compile(r"([0-9]{1,6})\.([0-9]{1,6})\+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFaults:
    """The contents of a faults file. Times of events and partitions are seconds from the beginning of their round."""

    network: NetworkFaults = field(default_factory=NetworkFaults)
    """Faults from the first round on, without network partitions."""
    events: Mapping[StepRound | None, tuple[Fault, ...]] = field(default_factory=dict)
    """By the round from which times count; None: the first that is played. A restart leaves its member unchanged."""
    partitions: Mapping[StepRound | None, tuple[NetworkPartition, ...]] = field(default_factory=dict)


NO_FAULTS = PlanFaults()


def read_faults(file: Path, members: Collection[str], places: Collection[StepRound]) -> PlanFaults:
    """The faults of a file, for a plan with these members (by their names in rounds) and rounds."""
    text = read_text(file)
    tree = load_tree(file, text)
    try:
        return _Reader(members, places).read(tree)
    except Malformed as error:
        raise TreeError.at(file, text, error) from None


class _Reader:
    def __init__(self, members: Collection[str], places: Collection[StepRound]) -> None:
        self._members, self._places = members, places

    def read(self, tree: object) -> PlanFaults:
        check_format(tree, FORMAT_VERSION, "faults file")
        top = _mapping(tree)
        for key in top:
            if key not in KEYS:
                raise Malformed(f"unknown; a faults file has {', '.join(KEYS)}", key)
        events = _by_round(top.get("events"), "events", self._event)
        try:
            faults = _mapping(top.get("faults") or {})
            others = {key: value for key, value in faults.items() if key != "partition"}
            network = TREES.read(NetworkFaults, others)
            # A single partition needs no list.
            single = isinstance(faults.get("partition"), dict)
            partitions = _by_round(faults.get("partition"), "partition", self._partition, single=single)
        except Malformed as error:
            raise error.below("faults") from None
        return PlanFaults(network=network, events=events, partitions=partitions)

    def _event(self, tree: Tree) -> tuple[StepRound | None, Fault]:
        verb = next((verb for verb in VERBS if verb in tree), None)
        if verb is None:
            raise no_verb(tree, VERBS)
        round_, at_s = self._moment(tree, "at")
        event: Fault = TREES.read(VERBS[verb], {**tree, "at": at_s})
        if not isinstance(event, FailCoordinator):
            self._known(event.member, verb)
        if isinstance(event, Pause | Freeze) and event.for_s == 0:
            raise Malformed("must be longer than 0 seconds", "for")
        return round_, event

    def _partition(self, tree: Tree) -> tuple[StepRound | None, NetworkPartition]:
        (round_, start_s), (other, end_s) = self._moment(tree, "from"), self._moment(tree, "to")
        if other != round_:
            raise Malformed("must count from the same round as `from`", "to")
        if end_s <= start_s:
            raise Malformed("must be later than `from`", "to")
        partition: NetworkPartition = TREES.read(NetworkPartition, {**tree, "from": start_s, "to": end_s})
        for member in partition.members:
            self._known(member, "members")
        return round_, partition

    def _known(self, member: str, key: str) -> None:
        if member not in self._members:
            raise Malformed(unknown("member", member, self._members), key)

    def _moment(self, tree: Tree, key: str) -> tuple[StepRound | None, float]:
        if key not in tree:
            raise Malformed("missing", key)
        text = str(tree[key])
        match = _ROUND.match(text)
        try:
            seconds: float = TREES.read(Seconds, text[match.end() :] if match else text)
        except Malformed as error:
            raise Malformed(f"{error}, or with STEP.ROUND+seconds from the start of a round", key) from None
        if match is None:
            return None, seconds
        step_round = int(match[1]), int(match[2])
        if step_round not in self._places:
            rounds = [f"{step}.{round_}" for step, round_ in self._places]
            raise Malformed(unknown("round", f"{step_round[0]}.{step_round[1]}", rounds), key)
        return step_round, seconds


def _mapping(tree: object) -> Tree:
    if not isinstance(tree, dict):
        raise Malformed(f"expected a mapping, found {shown(tree)}")
    return tree


def _by_round(
    tree: object, key: str, read: Callable[[Tree], tuple[StepRound | None, T]], *, single: bool = False
) -> dict[StepRound | None, tuple[T, ...]]:
    """What is read from a list of mappings, by the round from which its times count."""
    trees = [tree] if single else tree or []
    if not isinstance(trees, list):
        raise Malformed(f"expected a list, found {shown(trees)}", key)
    by_round: dict[StepRound | None, tuple[T, ...]] = {}
    for number, item in enumerate(trees):
        try:
            round_, value = read(_mapping(item))
        except Malformed as error:
            raise (error if single else error.below(number)).below(key) from None
        by_round[round_] = (*by_round.get(round_, ()), value)
    return by_round


def from_now(partition: NetworkPartition, now_s: float) -> NetworkPartition:
    return replace(partition, start_s=now_s + partition.start_s, end_s=now_s + partition.end_s)
