"""`kohort-streams-application-reset`: the command line of kafka-streams-application-reset.sh, for applications whose
group is a classic one."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

from cli.dropin import cluster
from cli.dropin.deleting import delete_internal_topics
from cli.dropin.errors import ToolFailure, exception_text
from cli.dropin.flags import read_command
from cli.dropin.journaling import journaled
from cli.dropin.main import KafkaTool, run_tool
from cli.dropin.parse import Action, Options, options_of
from cli.dropin.printing import print_remark, remark_unknown
from cli.dropin.resetting import Reset, scenario_of
from cli.errors import ExitStatus
from cli.journal.entry import ChangedItem, ItemKind
from cli.render.cells import safe_text
from cli.sources.live import LiveSource
from groups.model import CommittedOffset, GroupState, GroupType, TopicPartition, partition_name
from groups.offsets.model import Positions
from groups.offsets.scenarios import ShiftBy, ToListed
from groups.streams import is_internal
from wire.client.groups import LeavingMember, remove_members
from wire.client.offsets import LATEST
from wire.errors import Failure

_USAGE = "usage-streams-reset.txt"
_SCENARIOS = (
    "to-offset", "to-datetime", "by-duration", "to-earliest", "to-latest", "from-file", "shift-by",
)  # fmt: skip


def parse(arguments: Sequence[str]) -> Options:
    """Read and check a command line, as cli.dropin.parse.parse does for kohort-consumer-groups."""
    flags = read_command(arguments, _USAGE)
    flags.at_most_one(*_SCENARIOS)
    flags.exclude("config-file", "command-config")
    if flags.has("config-file"):
        more = "will be removed in a future version. Use --command-config instead."
        print(f"Option --config-file has been deprecated and {more}")
    shared = flags.renamed({"application-id": "group", "config-file": "command-config"})
    shared.values.setdefault("bootstrap-server", ["localhost:9092"])
    shared.values.update({} if flags.has("dry-run") else {"execute": []})
    shared.values.update({} if flags.has(*_SCENARIOS) else {"to-earliest": []})
    flags.single("application-id")
    return options_of(Action.RESET_OFFSETS, shared)


def run_reset(options: Options, source: LiveSource) -> int:
    """Set the offsets, and delete the internal topics, or only print both; the exit status."""
    reset = ApplicationReset(options, source)
    reset.stop_members()
    topics = reset.client.metadata().topics
    if options.has("dry-run"):
        print("----Dry run displays the actions which will be performed when running Streams Reset Tool----")
    reset.seek(topics)
    reset.delete_topics(topics)
    return reset.status


class ApplicationReset(Reset):
    """A reset of the group of one application."""

    empty = "Partition {1} from topic {0} is empty, without a committed record. Falling back to latest known offset."

    def names_in(self, flag: str) -> list[str]:
        """The values of a flag, of which each is a list with commas."""
        lists = ([*filter(None, text.split(","))] or [text] for text in self.options.flags.all(flag))
        return [name for names in lists for name in names]

    def stop_members(self) -> None:
        """Raise ToolFailure if the group has members; with `--force` they are removed, unless it is a dry run. The tool
        sees no members of a streams group, and deletes its topics while it runs."""
        group, executes = self.options.group, self.options.has("execute")
        described = self.describe([group])[group]
        if isinstance(described, Failure):
            if not cluster.is_absent(described):
                cluster.raise_failure([described], prefix=cluster.WRAPPED)
            streams = cluster.list_groups(self.source, GroupType.STREAMS)[0] if executes else []
            if any(listed.id == group and listed.state is not GroupState.EMPTY for listed in streams):
                raise ToolFailure(f"the streams group '{group}' has members: stop the application first")
            return
        members = [member.member_id for member in described[1].members]
        if not members:
            return
        if not self.options.has("force"):
            raise ToolFailure(_ACTIVE.format(group, ", ".join(members)))
        print(f"Force deleting all active members in the group: {safe_text(group)}")
        if executes:
            leaving = {group: [LeavingMember(member_id=name) for name in members]}
            item = ChangedItem(kind=ItemKind.MEMBER, group=group, type=GroupType.CLASSIC)
            answers = journaled(
                self.source,
                "members remove",
                lambda: [replace(item, name=name) for name in members],
                lambda: remove_members(self.client, leaving, "kohort-streams-application-reset --force"),
            )
            outcomes = answers.found.get(group, {}).values()
            cluster.raise_failure([*answers.failed.values(), *filter(None, outcomes)], prefix=cluster.WRAPPED)

    def seek(self, topics: Collection[str]) -> None:
        """Set the offsets of input topics, and those of intermediate topics to the end."""
        inputs, between = self.names_in("input-topics"), self.names_in("intermediate-topics")
        if between:
            print("WARN: `--intermediate-topics` is deprecated and will be removed in a future release")
        if not inputs and not between:
            print("No input or intermediate topics specified. Skipping seek.")
        for what, names in (("Reset-offsets for input", inputs), ("Seek-to-end for intermediate", between)):
            if names:
                print(f"{what} topics {_listed(names)}")
        for kind, names, blank in (("input", inputs, " "), ("intermediate", between, "")):
            if missing := [name for name in names if name not in topics]:
                print(f"Following {kind} topics are not found, skipping them")
                print(*(f"Topic:{blank}{safe_text(name)}" for name in missing), sep="\n")
                self.status = ExitStatus.FALSE
        first = self.topics.places([name for name in inputs if name in topics])
        second = self.topics.places([name for name in between if name in {*topics} - {*inputs}])
        where = f"(for consumer group {safe_text(self.options.group)})"
        new: dict[TopicPartition, int] = {}
        if first:
            print(f"Following input topics offsets will be reset to {where}")
            new = self.new_input_offsets(first)
            for topic, number in first:
                print(f"Topic: {safe_text(topic)} Partition: {number} Offset: {new[topic, number]}")
        if second:
            print(f"Following intermediate topics offsets will be reset to end {where}")
            print(*(f"Topic: {safe_text(topic)}" for topic, _ in second), sep="\n")
            new |= self.offsets(second, LATEST)
        if new:
            if self.options.has("execute"):
                self.commit(self.options.group, new)
            print("Done.")

    def new_input_offsets(self, places: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        """The new offsets of the input topics, of which those without an offset are shifted from the end."""
        group, scenario = self.options.group, scenario_of(self.options, lambda: self.plan)
        committed: dict[TopicPartition, CommittedOffset] = {}
        if isinstance(scenario, ShiftBy):
            ends = self.offsets(places, LATEST)
            committed = {key: CommittedOffset(offset=end) for key, end in ends.items()} | self.committed(
                group
            )
        elif isinstance(scenario, ToListed):
            listed = scenario.offsets.get(group, {})
            if missing := [partition_name(key) for key in places if key not in listed]:
                raise ToolFailure(f"{self.options.from_file}: has no offset of {', '.join(missing)}")
        return self.new_offsets(scenario, group, places, committed)

    def remark(self, place: TopicPartition, requested: int, positions: Positions) -> None:
        """As in the tool, also at either end of the log."""
        start, end = positions.earliest[place], positions.end[place]
        if not start < requested < end:
            which, to = ("higher than latest", end) if requested >= end else ("lower than earliest", start)
            print(f"New offset ({requested}) is {which} offset. Value will be set to {to}")

    def delete_topics(self, topics: Collection[str]) -> None:
        """Delete internal topics of the application: the named ones, or all that look like one. Raises ToolFailure."""
        read = {*self.names_in("input-topics"), *self.names_in("intermediate-topics")}
        inferred = [name for name in topics if is_internal(name, self.options.group) and name not in read]
        named = self.names_in("internal-topics")
        if not {*named} <= {*inferred}:
            raise ToolFailure(_NOT_INTERNAL)
        doomed = named or inferred
        print(f"Deleting {'specified' if named else 'inferred'} internal topics {_listed(doomed)}")
        if self.options.has("execute") and doomed:
            failed = delete_internal_topics(self.source, self.options.group, doomed).failed
            remark_unknown(failed.values())
            for name, why in failed.items():
                print_remark(f"ERROR: deleting topic {name}\n{exception_text(why)}")
            if failed:
                what = "Encountered an error deleting one or more topics"
                raise ToolFailure(f"java.lang.RuntimeException: {what}")
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


def _report(reason: str) -> None:
    if reason.startswith(("java.text.", "java.io.")):
        print_remark("ERROR: Resetting offsets failed.")
    print_remark(f"ERROR: {reason}")


TOOL = KafkaTool(
    parse=parse, action_of=lambda _: run_reset, report=_report, usage=_USAGE, failed=ExitStatus.FALSE
)  # fmt: skip
main = partial(run_tool, TOOL)
