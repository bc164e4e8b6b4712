"""The scenario file: YAML or JSON, with the keys of docs/scenarios.md.
The first pass gives each value its type (`groups.trees`), the second follows the events in order of time and refuses
invalid ones, such as the close of a member that has not started. Errors have the line and column of their value."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from coordinator.configs.settings import Config
from coordinator.faults import ChangeTopic, FailCoordinator
from coordinator.simulation import scenario as model
from coordinator.simulation import scenario_checks as checks
from coordinator.simulation.compacted_log import LACKS
from coordinator.simulation.streams import check_streams
from groups.model import wrong_topic_name
from groups.trees import Malformed, Trees, count_values, shown
from groups.yaml_files import TreeError, check_format, load_tree, read_text
from wire.suggestion import closest

FORMAT_VERSION = 1  # Raised only if an older Kohort would misread the file
MAX_VALUES = 500_000  # The maximum number of values in a file; an alias counts each time it is used
_Tree = dict[str, Any]


VERBS: Mapping[str, type] = {  # restart before kill, which is also one of its keys
    "start": model.Start,
    "close": model.Close,
    "restart": model.Restart,
    "kill": model.Kill,
    "pause": model.Pause,
    "freeze": model.Freeze,
    "enforce_rebalance": model.EnforceRebalance,
    "change_state": model.ChangeState,
    "subscribe": model.Subscribe,
    "unsubscribe": model.Unsubscribe,
    "assign": model.Assign,
    "commit": model.Commit,
    "committed": model.AskCommitted,
    "topic": ChangeTopic,
    "coordinator": FailCoordinator,
}
"""The key that determines the kind of an event."""


def read_scenario(file: Path, *, name: str | None = None) -> model.Scenario:
    """The scenario of a file, named `name` or after the file; TreeError if it cannot be read or played."""
    return parse_scenario(file, read_text(file), name=name)


def parse_scenario(file: Path, text: str, *, name: str | None = None) -> model.Scenario:
    """Like `read_scenario`, from text; the file is used only in errors."""
    tree = load_tree(file, text)
    try:
        return scenario_from_tree(tree, name=name or file.stem)
    except Malformed as error:
        raise TreeError.at(file, text, error) from None


def scenario_from_tree(tree: _Tree, *, name: str) -> model.Scenario:
    """The scenario of a file's tree. Raises Malformed: with the path to the invalid value."""
    if count_values(tree, MAX_VALUES + 1) > MAX_VALUES:
        raise Malformed(f"a scenario has at most {MAX_VALUES} values")
    check_format(tree, FORMAT_VERSION, "scenario")
    top: model.Scenario = TREES.read(
        model.Scenario, {key: value for key, value in tree.items() if key != "events"}
    )
    for topic in top.topics:
        if (wrong := wrong_topic_name(topic)) is not None:
            raise Malformed(wrong, "topics", topic)
    checks.check_settings(Config, top.settings, "settings")
    for number, lack in enumerate(top.without):
        if lack not in LACKS:
            raise Malformed(checks.unknown("KIP or fix", lack, LACKS), "without", number)
    _check_partitions(top)
    if top.streams is not None:
        check_streams(top, top.streams)
    return replace(top, name=name, description=top.description.strip(), events=_Events(top, tree).read())


def _check_partitions(top: model.Scenario) -> None:
    """Check the times and members of network partitions."""
    for number, partition in enumerate(top.faults.partitions):
        path = ("faults", "partition", number)
        for member in partition.members:
            if member not in top.members:
                raise Malformed(checks.unknown("member", member, top.members), *path, "members")
        if partition.end_s <= partition.start_s:
            raise Malformed("must be later than `from`", *path, "to")
        if partition.start_s > top.until_s:
            raise Malformed(f"after the end of the scenario (until: {top.until_s:g})", *path, "from")


class _Events:
    """Reads the events in order of time, with the running members and existing topics at each moment."""

    def __init__(self, top: model.Scenario, tree: _Tree) -> None:
        self.top = top
        self.trees: Any = tree.get("events")
        self.member_trees: Mapping[str, _Tree] = tree.get("members") or {}
        self.configured: dict[str, _Tree] = {}  # The current configuration of the members that have started
        self.scripts = dict(top.members)  # The same, as objects
        self.running: dict[str, float] = {}
        """When a member's process started; in the future while the member is restarting."""
        self.partitions = dict(top.topics)
        self.ever: set[str] = set(top.topics)  # Topics that exist at any time

    def read(self) -> tuple[model.Event, ...]:
        """The events in order of time; events of the same time in the order of the file."""
        if self.trees is None:
            self.trees = []
        if not isinstance(self.trees, list):
            raise Malformed(f"expected a list, found {shown(self.trees)}", "events")
        typed = [(self._located(number, self._typed, tree), number) for number, tree in enumerate(self.trees)]
        self.ever.update(
            event.topic for event, _ in typed if isinstance(event, ChangeTopic) and event.create is not None
        )
        in_order = sorted(typed, key=lambda pair: (pair[0].at, pair[1]))
        return tuple(
            self._located(number, self._follow, event, self.trees[number]) for event, number in in_order
        )

    def _located(self, number: int, read: Callable[..., model.Event], *arguments: object) -> model.Event:
        try:
            return read(*arguments)
        except Malformed as error:
            raise error.below(number).below("events") from None

    def _typed(self, tree: object) -> model.Event:
        if not isinstance(tree, dict):
            raise Malformed(f"expected a mapping with `at` and a verb, found {shown(tree)}")
        verb = next((verb for verb in VERBS if verb in tree), None)
        if verb is None:
            raise no_verb(tree, VERBS)
        others = [other for other in VERBS if other in tree and other not in (verb, "kill")]
        if others:
            raise Malformed(f"an event has one verb, and this one also has {verb!r}", others[0])
        if "at" not in tree:
            raise Malformed("is missing", "at")
        fields = {key: value for key, value in tree.items() if (verb, key) != ("restart", "with")}
        event: model.Event = TREES.read(VERBS[verb], fields)
        if event.at > self.top.until_s:
            raise Malformed(f"after the end of the scenario (until: {self.top.until_s:g})", "at")
        return event

    def _follow(self, event: model.Event, tree: _Tree) -> model.Event:
        match event:
            case ChangeTopic():
                return self._change_topic(event)
            case FailCoordinator():
                return event
            case model.Start(member=member):
                self._known(member, "start")
                if member in self.running:
                    raise Malformed(f"{member} is running already, since {self._since(member)}", "start")
                self.running[member] = event.at
                self.configured.setdefault(member, self.member_trees[member])
            case model.Restart(member=member):
                self._runs(member, event.at, "restart")
                script = self._restarted(member, tree.get("with"))
                self.running[member] = event.at + event.after_s
                return replace(event, script=script)
            case _:
                verb = next(verb for verb, kind in VERBS.items() if isinstance(event, kind))
                self._runs(event.member, event.at, verb)
                if isinstance(event, model.Pause | model.Freeze) and event.for_s == 0:
                    raise Malformed("must be longer than 0 seconds", "for")
                if isinstance(event, model.ChangeState) and not event.state:
                    raise Malformed("names nothing to change", "state")
                if isinstance(event, model.Subscribe):
                    checks.check_subscribe(event, self.scripts[event.member])
                if isinstance(event, model.Assign):
                    checks.check_assign(event)
                if isinstance(event, model.Close | model.Kill):
                    del self.running[event.member]
        return event

    def _known(self, member: str, verb: str) -> None:
        if member not in self.top.members:
            raise Malformed(checks.unknown("member", member, self.top.members), verb)

    def _runs(self, member: str, at: float, verb: str) -> None:
        self._known(member, verb)
        if member not in self.configured:
            raise Malformed(f"{member} has not been started before {at:g} s", verb)
        if member not in self.running:
            raise Malformed(f"{member} does not run at {at:g} s: it was closed or killed before", verb)
        if self.running[member] > at:
            raise Malformed(
                f"{member} does not run at {at:g} s: it starts again at {self._since(member)}", verb
            )

    def _since(self, member: str) -> str:
        return f"{self.running[member]:g} s"

    def _restarted(self, member: str, changes: object) -> model.MemberScript:
        """A member's configuration after a restart; updates `configured`."""
        if changes is None:
            changes = {}
        if not isinstance(changes, dict):
            raise Malformed(f"expected a mapping of a member's keys, found {shown(changes)}", "with")
        tree = _merged(self.configured[member], changes)
        try:
            script: model.MemberScript = TREES.read(model.MemberScript, tree)
        except Malformed as error:
            raise error.below("with") from None
        self.configured[member], self.scripts[member] = tree, script
        return script

    def _change_topic(self, event: ChangeTopic) -> ChangeTopic:
        present = self.partitions.get(event.topic)
        if event.create is not None:
            if present is not None:
                raise Malformed(f"{event.topic} exists already at {event.at:g} s", "create")
        elif present is None:
            if event.topic in self.ever:
                raise Malformed(f"{event.topic} does not exist at {event.at:g} s", "topic")
            raise Malformed(checks.unknown("topic", event.topic, self.ever), "topic")
        if event.partitions is not None and present is not None and event.partitions <= present:
            raise Malformed(
                f"{event.topic} has {present} partitions already; a topic only grows", "partitions"
            )
        if event.count is None:
            del self.partitions[event.topic]
        else:
            self.partitions[event.topic] = event.count
        return event


def no_verb(tree: _Tree, verbs: Collection[str]) -> Malformed:
    """The error for an event without any of these verbs."""
    for key in tree:
        near = closest(str(key), verbs)
        if near and key not in ("at", "topics"):
            return Malformed(f"unknown verb; did you mean {near}?", key)
    return Malformed(f"has no verb; one of {', '.join(verbs)}")


def _merged(tree: _Tree, changes: _Tree) -> _Tree:
    """A member's tree with the changes of a restart: settings and listeners one by one, the rest as a whole.
    A change of the subscription or the protocol removes the keys that only the previous one had."""
    dropped: set[str] = set()
    if "topics" in changes or "regex" in changes:
        dropped.update(("topics", "regex"))
    protocol = changes.get("protocol", tree.get("protocol", checks.CLASSIC))
    changed = protocol != tree.get("protocol", checks.CLASSIC)
    if changed:
        dropped.update(key for other, keys in checks.ONLY_OF.items() if other != protocol for key in keys)
    kept = {key: value for key, value in tree.items() if key not in dropped}
    merged = {**kept, **changes}
    for key in ("config", "state", "listener"):
        former, changing = kept.get(key), changes.get(key)
        if key == "config" and changed and isinstance(former, dict):
            former = {name: value for name, value in former.items() if name not in checks.CLASSIC_SETTINGS}
            merged[key] = former
        if isinstance(former, dict) and isinstance(changing, dict):
            merged[key] = {**former, **changing}
        if isinstance(merged.get(key), dict):
            merged[key] = {name: value for name, value in merged[key].items() if value is not None}
    return {name: value for name, value in merged.items() if value is not None}


def _imply_texts(tree: _Tree, key: str) -> None:
    """Make settings texts: JSON may have true and false."""
    settings = tree.get(key)
    if isinstance(settings, dict):
        tree[key] = {
            name: str(value).lower() if isinstance(value, bool) else value for name, value in settings.items()
        }


def _imply_member(tree: _Tree) -> None:
    """Expand short forms: `revoked: throws` is short for `revoked: {throws: true}`."""
    _imply_texts(tree, "config")
    _imply_texts(tree, "state")
    listener = tree.get("listener")
    if isinstance(listener, dict):
        tree["listener"] = {
            method: {script: True}
            if script in ("throws", "commits", "unsubscribes")
            else {**script, "takes": None}
            if isinstance(script, dict) and script.get("takes") == "never"
            else script
            for method, script in listener.items()
        }


def _check_coordinator(event: FailCoordinator) -> None:
    for key in ("group", "to"):
        if getattr(event, key) is not None:
            raise Malformed("a simulation has one coordinator", key)


def _imply_partitions(tree: _Tree) -> None:
    """Turn a single network partition into a list."""
    if isinstance(tree.get("partition"), dict):
        tree["partition"] = [tree["partition"]]


TREES = Trees(
    sparse=True,
    extra={model.Scenario: ("kohort",)},
    implied={
        model.Scenario: lambda tree: _imply_texts(tree, "settings"),
        model.MemberScript: _imply_member,
        model.ChangeState: lambda tree: _imply_texts(tree, "state"),
        model.NetworkFaults: _imply_partitions,
    },
    checks={
        model.NetworkFaults: checks.check_faults,
        model.NetworkPartition: checks.check_network_partition,
        model.MemberScript: checks.check_member,
        ChangeTopic: ChangeTopic.check,
        FailCoordinator: _check_coordinator,
    },
)


_SUFFIX = ".yaml"


def shipped_names() -> tuple[str, ...]:
    """The names in alphabetical order."""
    names = (file.name for file in (files(__package__) / "scenarios").iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


def shipped_scenario(name: str) -> model.Scenario:
    """Raises LookupError: unknown name."""
    if name not in shipped_names():
        raise LookupError(name)
    return parse_scenario(Path(f"{name}{_SUFFIX}"), shipped_text(name))


def shipped_text(name: str) -> str:
    """The file of the scenario, as a starting point for another one."""
    return (files(__package__) / "scenarios" / f"{name}{_SUFFIX}").read_text(encoding="utf-8")
