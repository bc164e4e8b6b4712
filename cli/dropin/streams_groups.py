"""`kohort-streams-groups`: the command line of kafka-streams-groups.sh; `--describe` is in streams_describing.py."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from cli.dropin import cluster
from cli.dropin.deleting import delete_internal_topics, delete_offsets, print_deleted
from cli.dropin.errors import BadValue, ToolFailure, ToolUsageError, exception_text, status_of
from cli.dropin.flags import ParsedFlags, flags_in, read_command
from cli.dropin.main import KafkaTool, Run, failing, run_tool
from cli.dropin.parse import (
    SCENARIOS,
    Action,
    Options,
    check_describe,
    check_execution,
    only_action,
    options_of,
)
from cli.dropin.printing import print_error, remark_unknown
from cli.dropin.resetting import Reset, Resets, print_resets, run_reset
from cli.dropin.streams_describing import run_describe, topologies_of
from cli.dropin.typed_groups import (
    ToolGroups,
    delete_groups,
    described_or_not,
    names_of,
    print_list,
    undeletable,
)
from cli.errors import ExitStatus
from cli.render.cells import safe_text
from cli.sources.live import LiveSource
from groups.model import GroupState, GroupType, TopicPartition
from groups.streams import Topology, is_internal
from wire.errors import Failure
from wire.messages.schemas.streams_groups import STREAMS_GROUP_DESCRIBE

_USAGE = "usage-streams-groups.txt"
FLAGS = flags_in(_USAGE)
_PARTS = ("members", "offsets", "state", "topology")
_ONLY_WITH = (
    ("members", ("describe",)), ("topology", ("describe",)), ("state", ("list", "describe")),
    ("offsets", ("describe",)), ("verbose", ("describe",)),
)  # fmt: skip
_GROUPS = ToolGroups(
    type=GroupType.STREAMS,
    states=(
        GroupState.EMPTY, GroupState.NOT_READY, GroupState.STABLE, GroupState.ASSIGNING, GroupState.RECONCILING,
        GroupState.DEAD,
    ),
    absent=lambda name: Failure(
        message=f"java.lang.IllegalArgumentException: Group '{name}' does not exist or is not a streams group.",
        is_unsent=True,
    ),
)  # fmt: skip


def parse(arguments: Sequence[str]) -> Options:
    """Read and check a command line, as cli.dropin.parse.parse does for kohort-consumer-groups."""
    flags = read_command(arguments, _USAGE, only_with=_ONLY_WITH)
    _check(flags)
    action = only_action(flags, "--list, --describe, --delete, --reset-offsets, or --delete-offsets.")
    try:
        options = options_of(action, flags, topics="input-topic")
    except BadValue as error:
        raise ToolUsageError(str(error)) from None
    return replace(options, all_topics=flags.has("all-input-topics"))


def _check(flags: ParsedFlags) -> None:
    if not flags.has("bootstrap-server"):
        raise ToolUsageError('Missing required argument "[bootstrap-server]"')
    if flags.has("describe"):
        check_describe(flags, *_PARTS)
    if flags.has("delete"):
        flags.require_one("delete", "group", "all-groups")
        if flags.has("input-topic", "all-input-topics"):
            what = "topic-specific offset deletion from a streams group"
            raise ToolUsageError(f"Kafka Streams does not support {what}.")
    if flags.has("delete-offsets"):
        if not (flags.has("input-topic", "all-input-topics") and flags.has("group")):
            takes = "takes the [group] and one of these options: [all-input-topics], [input-topic]"
            raise ToolUsageError(f"Option [delete-offsets] {takes}")
        if len(groups := flags.all("group")) > 1:
            found = f"found: [{', '.join(groups)}]"
            raise ToolUsageError(f"Option [delete-offsets] supports only one [group] at a time, but {found}")
    if flags.has("reset-offsets"):
        check_execution(flags, required=True)
        flags.require_one("reset-offsets", "group", "all-groups")
        flags.at_most_one(*SCENARIOS)
    _check_internal_topics(flags)
    if flags.has("dry-run", "execute") and not flags.has("reset-offsets"):
        raise ToolUsageError("Only Option [reset-offsets] accepts [execute] or [dry-run]")
    flags.exclude("list", "members", "offsets", "topology")
    flags.exclude("group", "all-groups", "list")
    flags.exclude("input-topic", "delete", "describe", "list")


def _check_internal_topics(flags: ParsedFlags) -> None:
    if flags.has(_ALL_INTERNAL):
        flags.require_one(_ALL_INTERNAL, "reset-offsets", "delete")
        if flags.has("reset-offsets") and not flags.has("execute"):
            raise ToolUsageError(f"Option [{_ALL_INTERNAL}] takes [execute] when [reset-offsets] is used.")
    elif flags.has(_INTERNAL) and not (flags.has("reset-offsets") and flags.has("execute")):
        raise ToolUsageError(f"Option [{_INTERNAL}] takes [reset-offsets] when [execute] is used.")


_ALL_INTERNAL, _INTERNAL = "delete-all-internal-topics", "delete-internal-topic"


def run_delete(options: Options, source: LiveSource) -> int:
    """Delete the groups, and their internal topics if requested; print the outcome of each; the exit status."""
    client = cluster.client_of(source, "kohort delete")
    names, status = names_of(_GROUPS, options, source)
    failed = undeletable(_GROUPS, names, source)
    doomed = [name for name in names if name not in failed and options.flags.has(_ALL_INTERNAL)]
    internal = {name: _internal(name, topology) for name, topology in topologies_of(client, doomed).items()}
    topics = {name: found for name, found in internal.items() if found}
    failed = delete_groups(names, failed, source)
    kept = {
        name: why
        for name in topics.keys() - failed.keys()
        if (why := _delete_topics(source, name, topics[name])) is not None
    }
    print_deleted("streams groups", names, failed, end=".")
    if kept:
        print("Deletion of some associated internal topics failed:")
        for name, why in kept.items():
            what = f"* Internal topics of the streams group '{name}' could not be deleted"
            print(safe_text(f"{what} due to: {exception_text(why)}"))
    elif gone := [name for name in topics if name not in failed]:
        of = safe_text("', '".join(gone))
        print(f"Deletion of associated internal topics of the streams groups ('{of}') was successful.")
    return max(status, status_of([*failed.values(), *kept.values()]))


def _internal(group: str, topology: Topology) -> list[str]:
    """The internal topics of a group; those that are not named after it are printed, and left out."""
    topics = [
        topic
        for subtopology in topology.subtopologies
        for topic in (*subtopology.repartition_sources, *subtopology.changelogs)
        if topic not in topology.input_topics
    ]
    for topic in topics:
        if not is_internal(topic, group):
            what = f"The internal topic '{topic}' is not inferred as internal"
            print_error(f"{what} and thus will not be deleted with the group '{group}'.")
    return [topic for topic in dict.fromkeys(topics) if is_internal(topic, group)]


def _delete_topics(source: LiveSource, group: str, topics: Sequence[str]) -> Failure | None:
    """Delete internal topics of a group; the first failure, after each of them is printed."""
    failed = delete_internal_topics(source, group, topics).failed if topics else {}
    for topic in failed:
        print(safe_text(f"Failed to delete internal topic: {topic}"))
    remark_unknown(failed.values())
    return next(iter(failed.values()), None)


def run_delete_offsets(options: Options, source: LiveSource) -> int:
    """Delete the offsets of the named or of all input topics."""
    if not options.all_topics:
        return delete_offsets(options, source)
    (group,) = options.groups
    topology = topologies_of(cluster.client_of(source, "kohort offsets delete"), [group])[group]
    committed = Reset(options, source).committed(group)
    return delete_offsets(options, source, [key for key in committed if key[0] in topology.input_topics])


class StreamsReset(Reset):
    """A reset of streams groups, of input topics only, and the deletion of their internal topics."""

    def __init__(self, options: Options, source: LiveSource) -> None:
        super().__init__(options, source)
        self._group = ""  # The one that is being reset

    def names(self) -> tuple[list[str], ExitStatus]:
        return names_of(_GROUPS, self.options, self.source)

    def describe(self, names: Sequence[str]) -> Mapping[str, cluster.Described]:
        return described_or_not(self.client, GroupType.STREAMS, STREAMS_GROUP_DESCRIBE, names)

    def set_group(self, name: str) -> Mapping[TopicPartition, int]:
        self._group = name
        topics = self._doomed() if self.options.execute else []
        offsets = super().set_group(name)
        if (why := _delete_topics(self.source, name, topics)) is not None:
            print_error(f"Deleting internal topics for group '{name}' failed due to {exception_text(why)}")
            self.status = max(self.status, status_of([why]))
        return offsets

    def _doomed(self) -> list[str]:
        """The internal topics to delete. Raises ToolFailure: a named one is not an internal topic of the group."""
        named = self.options.flags.all(_INTERNAL)
        if not named and not self.options.flags.has(_ALL_INTERNAL):
            return []
        topics = _internal(self._group, topologies_of(self.client, [self._group])[self._group])
        if self.options.flags.has(_ALL_INTERNAL):
            return topics
        if others := [topic for topic in named if topic not in topics]:
            raise ToolFailure(f"'{others[0]}' is not an internal topic of the group '{self._group}'")
        return named

    def scope(self, committed: Mapping[TopicPartition, int]) -> list[TopicPartition]:
        if self.options.all_topics:
            topology = topologies_of(self.client, [self._group])[self._group]
            return [key for key in committed if key[0] in topology.input_topics]
        if not self.options.topics and self.options.from_file is None:
            scopes = "--all-input-topics, --input-topic"
            raise ToolUsageError(f"One of the reset scopes should be defined: {scopes}.")
        places = super().scope(committed)
        self.check(places)
        if places and not self.committed(self._group).keys() >= set(places):
            print_error(f"One or more topics are not part of the group '{self._group}'.")
            self.status = max(self.status, ExitStatus.UNREADABLE)
            return []
        return places

    def show(self, resets: Resets) -> None:
        if self.options.export:
            super().show(resets)
        else:
            print_resets(resets, _WIDTHS)


_WIDTHS = (30, 30, 10, 15)
_RUNS: dict[Action, Run] = {
    Action.LIST: partial(print_list, _GROUPS),
    Action.DESCRIBE: partial(run_describe, _GROUPS),
    Action.DELETE: run_delete,
    Action.DELETE_OFFSETS: run_delete_offsets,
    Action.RESET_OFFSETS: lambda options, source: run_reset(StreamsReset(options, source)),
}
TOOL = KafkaTool(
    parse=parse,
    action_of=lambda options: _RUNS[options.action],
    report=failing("streams group"),
    usage=_USAGE,
    failed=ExitStatus.FALSE,
)


def main() -> None:
    run_tool(TOOL)
