"""Faults as trees: one on the wire and on the command line, many with times in a file (docs/serve.md)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, fields
from enum import Enum
from pathlib import Path
from typing import Any

from coordinator import faults as fault_kinds
from coordinator.simulation.scenario import NetworkFaults
from coordinator.simulation.scenario_checks import unknown
from coordinator.simulation.scenario_file import FORMAT_VERSION, no_verb
from coordinator.simulation.scenario_file import TREES as SCENARIO_TREES
from groups.trees import Malformed, Trees, shown
from groups.yaml_files import TreeError, check_format, load_tree, read_text
from wire.errors import ErrorCode

VERBS: Mapping[str, Any] = {
    "delay": fault_kinds.Delay,
    "error": fault_kinds.AnswerError,
    "drop": fault_kinds.Drop,
    "expire": fault_kinds.Expire,
    "fence": fault_kinds.Fence,
    "disconnect": fault_kinds.Disconnect,
    "coordinator": fault_kinds.FailCoordinator,
    "topic": fault_kinds.ChangeTopic,  # the last one, as it is also a condition of rules
}  # the key that determines the kind of an event
KEYS = ("kohort", "description", "faults", "events")
NETWORK_KEYS = ("loss", "delay_ms")  # the network faults of a scenario that a server can inject
ERRORS = tuple(code.name for code in ErrorCode if code is not ErrorCode.NONE)


def read_event(tree: object, apis: Collection[str]) -> fault_kinds.FaultEvent:
    """The fault of a tree without a time; `apis` are the names of the APIs that a rule can match. Raises Malformed."""
    if not isinstance(tree, dict):
        raise Malformed(f"expected a mapping with a verb, found {shown(tree)}")
    if "at" in tree:
        raise Malformed("only an event of a file has a time", "at")
    return _event(tree, apis)


def _event(tree: dict[str, Any], apis: Collection[str]) -> fault_kinds.FaultEvent:
    verb = next((word for word in VERBS if word in tree), None)
    if verb is None:
        raise no_verb(tree, VERBS)
    other = next((word for word in VERBS if word in tree and word not in (verb, "topic")), None)
    if other is not None or ("topic" in tree and verb == "coordinator"):
        raise Malformed(f"an event has one verb, and this one also has {verb!r}", other or "topic")
    try:
        event: fault_kinds.FaultEvent = _TREES.read(VERBS[verb], dict(tree))
        if isinstance(event, fault_kinds.RequestRule):
            for number, api in enumerate(event.api):
                if api not in apis:
                    raise Malformed(unknown("API", api, apis), "api", number)
    except Malformed as error:
        if error.path and not isinstance(tree.get(str(error.path[0])), list):
            error.path = error.path[:1]  # a single value needs no list
        raise
    return event


def tree_of(event: fault_kinds.FaultEvent) -> dict[str, object]:
    """The tree of a fault that `read_event` accepts, without its time and fields that are not set."""
    tree: dict[str, object] = {}
    for field in fields(event):
        value = getattr(event, field.name)
        if field.name != "at" and (field.default is MISSING or value != field.default):
            tree[str(field.metadata.get("named", field.name))] = _plain(value)
    verb = next(name for name, kind in VERBS.items() if type(event) is kind)
    return {verb: tree.pop(verb), **tree}


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return value[0] if len(set(value)) == 1 else list(value)
    return value


def read_faults(file: Path, apis: Collection[str]) -> tuple[fault_kinds.FaultEvent, ...]:
    """The events of a faults file, sorted by time. Raises TreeError: with line and column."""
    text = read_text(file)
    tree = load_tree(file, text)
    try:
        return _events(tree, apis)
    except Malformed as error:
        raise TreeError.at(file, text, error) from None


def network_rules(faults: NetworkFaults) -> tuple[fault_kinds.Lasting, ...]:
    """A scenario's loss and delay as rules, for a request and its answer; a loss ends the connection."""
    rules: list[fault_kinds.Lasting] = []
    if faults.delay_ms != NetworkFaults().delay_ms:
        least, greatest = faults.delay_ms
        rules.append(fault_kinds.Delay(bounds_s=(2 * least / 1000, 2 * greatest / 1000)))
    if faults.loss:
        rules.append(fault_kinds.Drop(what=fault_kinds.Dropped.CONNECTION, chance=1 - (1 - faults.loss) ** 2))
    return tuple(rules)


def _events(tree: Any, apis: Collection[str]) -> tuple[fault_kinds.FaultEvent, ...]:
    check_format(tree, FORMAT_VERSION, "faults file")
    for key in tree:
        if key not in KEYS:
            raise Malformed(f"unknown; a faults file has {', '.join(KEYS)}", key)
    listed = tree.get("events") or ()
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise Malformed(f"expected a list, found {shown(listed)}", "events")
    events: list[fault_kinds.FaultEvent] = [*_network(tree.get("faults"))]
    for number, entry in enumerate(listed):
        try:
            if not isinstance(entry, dict):
                raise Malformed(f"expected a mapping with `at` and a verb, found {shown(entry)}")
            if "at" not in entry:
                raise Malformed("is missing", "at")
            events.append(_event(entry, apis))
        except Malformed as error:
            raise error.below(number).below("events") from None
    return tuple(sorted(events, key=lambda event: event.at))


def _network(tree: object) -> tuple[fault_kinds.Lasting, ...]:
    if isinstance(tree, dict):
        for key in tree:
            if key not in NETWORK_KEYS:
                raise Malformed(f"a server supports only {' and '.join(NETWORK_KEYS)}", "faults", key)
    try:
        return network_rules(NetworkFaults() if tree is None else SCENARIO_TREES.read(NetworkFaults, tree))
    except Malformed as error:
        raise error.below("faults") from None


def _imply_lists(tree: dict[str, object]) -> None:
    if isinstance(tree.get("api"), str):
        tree["api"] = [tree["api"]]
    if "delay" in tree and not isinstance(tree["delay"], list):
        tree["delay"] = [tree["delay"], tree["delay"]]


def _check_delay(event: fault_kinds.Delay) -> None:
    if len(event.bounds_s) != 2 or event.bounds_s[0] > event.bounds_s[1]:
        raise Malformed("expected seconds, or the shortest and the longest time, as [0.5, 2]", "delay")


def _check_error(event: fault_kinds.AnswerError) -> None:
    if event.error not in ERRORS:
        raise Malformed(unknown("error", event.error, ERRORS), "error")


def _check_coordinator(event: fault_kinds.FailCoordinator) -> None:
    if event.to is not None and event.fault is not fault_kinds.CoordinatorFault.MOVE:
        raise Malformed("only `coordinator: move` can name a broker", "to")
    if event.compacted:
        raise Malformed("only a simulation compacts the log first", "compacted")
    if event.fault is fault_kinds.CoordinatorFault.ZOMBIE:
        raise Malformed("a server has no zombies, only move and crash", "coordinator")


_TREES = Trees(
    sparse=True,
    implied={
        fault_kinds.Delay: _imply_lists,
        fault_kinds.AnswerError: _imply_lists,
        fault_kinds.Drop: _imply_lists,
    },
    checks={
        fault_kinds.Delay: _check_delay,
        fault_kinds.AnswerError: _check_error,
        fault_kinds.ChangeTopic: fault_kinds.ChangeTopic.check,
        fault_kinds.FailCoordinator: _check_coordinator,
    },
)
