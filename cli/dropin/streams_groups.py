"""`kohort-streams-groups`: the command line of kafka-streams-groups.sh; `--describe` is in streams_describing.py."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from cli.dropin import cluster
from cli.dropin.deleting import delete_internal_topics, delete_offsets, print_deleted
from cli.dropin.errors import BadValue, ToolFailure, ToolUsageError, exception_text, status_of
from cli.dropin.flags import ParsedFlags, refuse
from cli.dropin.main import KafkaTool, Run, failing, run_tool
from cli.dropin.parse import ONLY_WITH, SCENARIOS, Action, Options, parse_command
from cli.dropin.printing import print_error, remark_unknown
from cli.dropin.resetting import Resets, print_resets, run_reset
from cli.dropin.streams_describing import GROUPS, run_describe, topology_of
from cli.dropin.typed_groups import TypedReset
from cli.errors import ExitStatus
from cli.render.cells import safe_text
from cli.sources.live import LiveSource
from groups.model import TopicPartition
from groups.streams import is_internal
from wire.client.cluster import KafkaClient
from wire.errors import Failure

_USAGE = "usage-streams-groups.txt"
_ONLY_WITH = {
    flag: ONLY_WITH.get(flag, ("describe",))
    for flag in ("members", "topology", "state", "offsets", "verbose")
}
_ALL_INTERNAL, _INTERNAL = "delete-all-internal-topics", "delete-internal-topic"


def parse(arguments: Sequence[str]) -> Options:
    """Read and check a command line; an invalid value is a usage error, as in the tool."""
    names = {"input-topic": "topic", "all-input-topics": "all-topics"}
    actions = "--list, --describe, --delete, --reset-offsets, or --delete-offsets."
    try:
        return parse_command(
            arguments, usage=_USAGE, check=_check, actions=actions, only_with=_ONLY_WITH, names=names
        )
    except BadValue as error:
        raise ToolUsageError(str(error)) from None


def _check(flags: ParsedFlags) -> None:
    has, topics = flags.has, flags.has("input-topic", "all-input-topics")
    flags.check_describe("members", "offsets", "state", "topology")
    if has("delete"):
        flags.require_one("delete", "group", "all-groups")
        refuse(topics, "Kafka Streams does not support topic-specific offset deletion from a streams group.")
    if has("delete-offsets"):
        takes = "takes the [group] and one of these options: [all-input-topics], [input-topic]"
        refuse(not (topics and has("group")), f"Option [delete-offsets] {takes}")
        groups = flags.all("group")
        only = f"supports only one [group] at a time, but found: [{', '.join(groups)}]"
        refuse(len(groups) > 1, f"Option [delete-offsets] {only}")
    if has("reset-offsets"):
        flags.check_execution(required=True)
        flags.require_one("reset-offsets", "group", "all-groups")
        flags.at_most_one(*SCENARIOS)
    if has(_ALL_INTERNAL):
        flags.require_one(_ALL_INTERNAL, "reset-offsets", "delete")
        planned = has("reset-offsets") and not has("execute")
        refuse(planned, f"Option [{_ALL_INTERNAL}] takes [execute] when [reset-offsets] is used.")
    elif not (has("reset-offsets") and has("execute")):
        refuse(has(_INTERNAL), f"Option [{_INTERNAL}] takes [reset-offsets] when [execute] is used.")
    executes = has("dry-run", "execute") and not has("reset-offsets")
    refuse(executes, "Only Option [reset-offsets] accepts [execute] or [dry-run]")
    flags.exclude("list", "members", "offsets", "topology")
    flags.check_selection("input-topic")


def run_delete(options: Options, source: LiveSource) -> int:
    """Delete the groups, and their internal topics if requested; print the outcome of each; the exit status."""
    client = cluster.client_of(source, "kohort delete")
    names, status = GROUPS.names(options, source)
    failed = GROUPS.undeletable(names, source)
    doomed = [name for name in names if name not in failed and options.flags.has(_ALL_INTERNAL)]
    topics = {name: found for name in doomed if (found := _internal_topics(client, name))}
    failed = GROUPS.deleted(names, failed, source)
    gone = [name for name in topics if name not in failed]
    kept = {name: why for name in gone if (why := _delete_topics(source, name, topics[name]))}
    print_deleted("streams groups", names, failed, end=".")
    if kept:
        print("Deletion of some associated internal topics failed:")
        for name, why in kept.items():
            what = f"* Internal topics of the streams group '{name}' could not be deleted"
            print(safe_text(f"{what} due to: {exception_text(why)}"))
    elif gone:
        of = safe_text("', '".join(gone))
        print(f"Deletion of associated internal topics of the streams groups ('{of}') was successful.")
    return max(status, status_of([*failed.values(), *kept.values()]))


def _internal_topics(client: KafkaClient, group: str) -> list[str]:
    """The internal topics of a group; those that are not named after it are printed, and left out."""
    topology = topology_of(client, group)
    topics = [
        topic
        for part in topology.subtopologies
        for topic in (*part.repartition_sources, *part.changelogs)
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
    topics = topology_of(cluster.client_of(source, "kohort offsets delete"), options.group).input_topics
    committed = StreamsReset(GROUPS, options, source).committed(options.group)
    return delete_offsets(options, source, [place for place in committed if place[0] in topics])


class StreamsReset(TypedReset):
    """A reset of streams groups, of input topics only, and the deletion of their internal topics."""

    def set_group(self, name: str) -> Mapping[TopicPartition, int]:
        topics = self._doomed(name) if self.options.execute else []
        offsets = super().set_group(name)
        if (why := _delete_topics(self.source, name, topics)) is not None:
            print_error(f"Deleting internal topics for group '{name}' failed due to {exception_text(why)}")
            self.status = max(self.status, status_of([why]))
        return offsets

    def _doomed(self, group: str) -> list[str]:
        """The internal topics to delete. Raises ToolFailure: a named one is not an internal topic of the group."""
        named, all_of_them = self.options.flags.all(_INTERNAL), self.options.flags.has(_ALL_INTERNAL)
        topics = _internal_topics(self.client, group) if named or all_of_them else []
        if all_of_them:
            return topics
        if others := [topic for topic in named if topic not in topics]:
            raise ToolFailure(f"'{others[0]}' is not an internal topic of the group '{group}'")
        return named

    def scope(self, committed: Iterable[TopicPartition]) -> list[TopicPartition]:
        if self.options.all_topics:
            topics = topology_of(self.client, self.name).input_topics
            return [place for place in committed if place[0] in topics]
        if not self.options.topics and self.options.from_file is None:
            scopes = "--all-input-topics, --input-topic"
            raise ToolUsageError(f"One of the reset scopes should be defined: {scopes}.")
        places = super().scope(committed)
        self.check(places)
        if places and not self.committed(self.name).keys() >= set(places):
            print_error(f"One or more topics are not part of the group '{self.name}'.")
            self.status = max(self.status, ExitStatus.UNREADABLE)
            return []
        return places

    def show(self, resets: Resets) -> None:
        if self.options.export:
            super().show(resets)
        else:
            print_resets(resets, _WIDTHS)


_WIDTHS = (30, 30, 15)
_RUNS: dict[Action, Run] = {
    Action.LIST: GROUPS.run_list,
    Action.DESCRIBE: run_describe,
    Action.DELETE: run_delete,
    Action.DELETE_OFFSETS: run_delete_offsets,
    Action.RESET_OFFSETS: lambda options, source: run_reset(StreamsReset(GROUPS, options, source)),
}
TOOL = KafkaTool(
    parse=parse,
    action_of=lambda options: _RUNS[options.action],
    report=failing("streams group"),
    usage=_USAGE,
    failed=ExitStatus.FALSE,
)
main = partial(run_tool, TOOL)
