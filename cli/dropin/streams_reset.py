"""`kohort-streams-application-reset`: the command line of kafka-streams-application-reset.sh, for applications whose
group is a classic one."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from cli.dropin import cluster
from cli.dropin.deleting import delete_internal_topics
from cli.dropin.errors import ToolFailure, exception_text
from cli.dropin.flags import ParsedFlags, flags_in, read_command
from cli.dropin.journaling import journaled
from cli.dropin.main import KafkaTool, run_tool
from cli.dropin.parse import Action, Options, options_of
from cli.dropin.printing import print_remark, remark_unknown
from cli.dropin.resetting import Reset, scenario_of
from cli.errors import ExitStatus
from cli.journal.entry import ChangedItem, ItemKind
from cli.render.cells import safe_text
from cli.sources.live import LiveSource
from groups.model import GroupState, GroupType, TopicPartition, partition_name
from groups.offsets.scenarios import Scenario, ShiftBy, ToEarliest, ToLatest, ToListed, ToOffset, ToTime
from groups.streams import is_internal
from wire.client.groups import LeavingMember, remove_members
from wire.client.offsets import EARLIEST, LATEST, OffsetSpec
from wire.errors import Failure

_USAGE = "usage-streams-reset.txt"
FLAGS = flags_in(_USAGE)
_SCENARIOS = (
    "to-offset", "to-datetime", "by-duration", "to-earliest", "to-latest", "from-file", "shift-by",
)  # fmt: skip
_DEFAULT_SERVER = "localhost:9092"


def parse(arguments: Sequence[str]) -> Options:
    """Read and check a command line, as cli.dropin.parse.parse does for kohort-consumer-groups."""
    flags = read_command(arguments, _USAGE)
    flags.at_most_one(*_SCENARIOS)
    flags.exclude("config-file", "command-config")
    if flags.has("config-file"):
        more = "will be removed in a future version. Use --command-config instead."
        print(f"Option --config-file has been deprecated and {more}")
    usual = {
        "bootstrap-server": flags.all("bootstrap-server") or [_DEFAULT_SERVER],
        "command-config": flags.all("command-config") + flags.all("config-file"),
        "group": flags.all("application-id"),
    }
    options = options_of(Action.RESET_OFFSETS, ParsedFlags({**flags.values, **usual}))
    flags.single("application-id")
    return replace(options, execute=not options.dry_run)


def run_reset(options: Options, source: LiveSource) -> int:
    """Set the offsets, and delete the internal topics, or only print both; the exit status."""
    reset = ApplicationReset(options, source)
    reset.stop_members()
    topics = list(reset.client.metadata().topics)
    if options.dry_run:
        print("----Dry run displays the actions which will be performed when running Streams Reset Tool----")
    status = reset.seek(topics)
    reset.delete_topics(topics)
    return status


class ApplicationReset(Reset):
    """A reset of the group of one application."""

    def __init__(self, options: Options, source: LiveSource) -> None:
        super().__init__(options, source)
        self.application = options.groups[0]

    def names_in(self, flag: str) -> list[str]:
        """The values of a flag, of which each is a list with commas."""
        texts = self.options.flags.all(flag)
        return [name for text in texts for name in list(filter(None, text.split(","))) or [text]]

    def stop_members(self) -> None:
        """Raise ToolFailure if the group has members; with `--force` they are removed, unless it is a dry run. The tool
        sees no members of a streams group, and deletes its topics while it runs."""
        described = cluster.describe_each(self.client, [self.application])[self.application]
        if isinstance(described, Failure):
            if not cluster.is_absent(described):
                cluster.raise_failure([described], prefix=cluster.WRAPPED)
            streams = cluster.list_groups(self.source, GroupType.STREAMS)[0] if self.options.execute else []
            if any(group.id == self.application and group.state is not GroupState.EMPTY for group in streams):
                raise ToolFailure(
                    f"the streams group '{self.application}' has members: stop the application first"
                )
            return
        members = [member.member_id for member in described[1].members]
        if members and not self.options.flags.has("force"):
            raise ToolFailure(_ACTIVE.format(self.application, ", ".join(members)))
        if members:
            print(f"Force deleting all active members in the group: {safe_text(self.application)}")
        if members and self.options.execute:
            leaving = {self.application: [LeavingMember(member_id=name) for name in members]}
            item = ChangedItem(kind=ItemKind.MEMBER, group=self.application, type=GroupType.CLASSIC)
            answers = journaled(
                self.source,
                "members remove",
                lambda: [replace(item, name=name) for name in members],
                lambda: remove_members(self.client, leaving, "kohort-streams-application-reset --force"),
            )
            outcomes = answers.found.get(self.application, {}).values()
            cluster.raise_failure([*answers.failed.values(), *filter(None, outcomes)], prefix=cluster.WRAPPED)

    def seek(self, topics: Collection[str]) -> ExitStatus:
        """Set the offsets of input topics, and those of intermediate topics to the end; FALSE if a topic is missing."""
        inputs, between = self.names_in("input-topics"), self.names_in("intermediate-topics")
        if between:
            print("WARN: `--intermediate-topics` is deprecated and will be removed in a future release")
        if not inputs and not between:
            print("No input or intermediate topics specified. Skipping seek.")
            return ExitStatus.DONE
        for what, names in (("Reset-offsets for input", inputs), ("Seek-to-end for intermediate", between)):
            if names:
                print(f"{what} topics {_listed(names)}")
        status = ExitStatus.DONE
        for kind, names, blank in (("input", inputs, " "), ("intermediate", between, "")):
            if missing := [name for name in names if name not in topics]:
                print(f"Following {kind} topics are not found, skipping them")
                print(*(f"Topic:{blank}{safe_text(name)}" for name in missing), sep="\n")
                status = ExitStatus.FALSE
        first = self.topics.places([name for name in dict.fromkeys(inputs) if name in topics])
        second = self.topics.places(
            [name for name in dict.fromkeys(between) if name in {*topics} - {*inputs}]
        )
        if not first and not second:
            return status
        ends = self.offsets([*first, *second], LATEST)
        where = f"(for consumer group {safe_text(self.application)})"
        new = {key: ends[key] for key in second}
        if first:
            print(f"Following input topics offsets will be reset to {where}")
            new |= self._targets(first, ends)
            for topic, number in first:
                print(f"Topic: {safe_text(topic)} Partition: {number} Offset: {new[topic, number]}")
        if second:
            print(f"Following intermediate topics offsets will be reset to end {where}")
            print(*(f"Topic: {safe_text(topic)}" for topic, _ in second), sep="\n")
        if self.options.execute:
            self.commit(self.application, new)
        print("Done.")
        return status

    def _targets(
        self, places: Sequence[TopicPartition], ends: Mapping[TopicPartition, int]
    ) -> Mapping[TopicPartition, int]:
        """The new offset of each partition of the input topics, with the tool's remarks."""
        starts, scenario = self.offsets(places, EARLIEST), self._scenario()
        requested: Mapping[TopicPartition, int] = {}
        match scenario:
            case ToLatest():
                return ends
            case ToOffset(offset):
                requested = dict.fromkeys(places, offset)
            case ShiftBy(count):
                current = self.committed(self.application)
                requested = {key: current.get(key, ends[key]) + count for key in places}
            case ToListed(listed):
                requested = listed[self.application]
                if missing := [partition_name(key) for key in places if key not in requested]:
                    raise ToolFailure(f"{self.options.from_file}: has no offset of {', '.join(missing)}")
            case ToTime(at_ms):
                at = self.offsets(places, OffsetSpec(at_ms))
                for topic, number in (key for key in places if at[key] < 0):
                    empty = f"Partition {number} from topic {safe_text(topic)} is empty, without a committed record"
                    print(f"{empty}. Falling back to latest known offset.")
                return {key: at[key] if at[key] >= 0 else ends[key] for key in places}
            case _:
                return starts
        return {key: _in_range(requested[key], starts[key], ends[key]) for key in places}

    def _scenario(self) -> Scenario:
        if not self.options.flags.has(*_SCENARIOS):
            return ToEarliest()
        try:
            return scenario_of(self.options, lambda: self.plan)
        except ToolFailure as error:
            if str(error).startswith(("java.text.", "java.io.")):
                print_remark("ERROR: Resetting offsets failed.")
            raise

    def delete_topics(self, topics: Collection[str]) -> None:
        """Delete internal topics of the application: the named ones, or all that look like one. Raises ToolFailure."""
        read = {*self.names_in("input-topics"), *self.names_in("intermediate-topics")}
        inferred = [name for name in topics if is_internal(name, self.application) and name not in read]
        named = self.names_in("internal-topics")
        if not {*named} <= {*inferred}:
            raise ToolFailure(_NOT_INTERNAL)
        print(f"Deleting {'specified' if named else 'inferred'} internal topics {_listed(named or inferred)}")
        if self.options.execute and (named or inferred):
            failed = delete_internal_topics(self.source, self.application, named or inferred).failed
            remark_unknown(failed.values())
            for name, why in failed.items():
                print_remark(f"ERROR: deleting topic {name}\n{exception_text(why)}")
            if failed:
                raise ToolFailure(
                    "java.lang.RuntimeException: Encountered an error deleting one or more topics"
                )
        print("Done.")


_NOT_INTERNAL = (
    "java.lang.IllegalArgumentException: Invalid topic specified in the --internal-topics option. Ensure that the "
    "topics specified are all internal topics. Do a dry run without the --internal-topics option to see the list of "
    "all internal topics that can be deleted."
)
_ACTIVE = (
    "java.lang.IllegalStateException: Consumer group '{}' is still active and has following members: [{}]. Make sure "
    "to stop all running application instances before running the reset tool. You can use option '--force' to remove "
    "active members from the group."
)


def _listed(names: Sequence[str]) -> str:
    return f"[{safe_text(', '.join(names))}]"


def _in_range(requested: int, start: int, end: int) -> int:
    """The offset in the log; as in the tool, the remark is also printed at either end."""
    if start < requested < end:
        return requested
    which, offset = ("higher than latest", end) if requested >= end else ("lower than earliest", start)
    print(f"New offset ({requested}) is {which} offset. Value will be set to {offset}")
    return offset


TOOL = KafkaTool(
    parse=parse,
    action_of=lambda _: run_reset,
    report=lambda reason: print_remark(f"ERROR: {reason}"),
    usage=_USAGE,
    failed=ExitStatus.FALSE,
)  # fmt: skip


def main() -> None:
    run_tool(TOOL)
