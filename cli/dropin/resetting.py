"""`--reset-offsets`: set groups without members to other offsets, one group after another. The output is a table or,
with `--export`, the CSV that `--from-file` reads."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

from cli.dropin import cluster, printing
from cli.dropin.deleting import ClusterTopics
from cli.dropin.errors import BadValue, ToolFailure, ToolUsageError, error_message, exception_text, status_of
from cli.dropin.journaling import journaled_offsets
from cli.dropin.parse import SCENARIOS, Options
from cli.dropin.wording import wording
from cli.errors import ExitStatus
from cli.sources.live import LiveSource
from groups.model import CommittedOffset, GroupState, GroupType, TopicPartition, each_commit, partition_name
from groups.offsets.model import OffsetChange, Positions
from groups.offsets.offsets_csv import MOST_BYTES, MalformedOffsets, read_offsets
from groups.offsets.scenarios import (
    Scenario,
    ShiftBy,
    ToCurrent,
    ToEarliest,
    ToLatest,
    ToListed,
    ToOffset,
    ToTime,
    reset,
)
from groups.times import DurationTooLong, ago_ms, read_java_duration_ns, read_java_moment
from wire.client.errors import Answers
from wire.client.offsets import EARLIEST, LATEST, NewOffset, OffsetSpec, Outcomes, commit_offsets, offsets_at
from wire.errors import ErrorCode, Failure
from wire.files import read_bounded
from wire.java_text import JAVA

Resets = Mapping[str, Mapping[TopicPartition, int]]
"""New offsets by group and partition."""
Commits = dict[TopicPartition, CommittedOffset]

_LATEST_MOMENT_MS = 2**63 - 1
_EARLIEST_INSTANT_S, _LATEST_INSTANT_S = -31557014167219200, 31556889864403199
"""The range of Java's `Instant`, in seconds from 1970."""


def scenario_of(options: Options, planned: Callable[[], Resets]) -> Scenario:
    """The scenario; `planned` reads `--from-file`. Raises ToolUsageError: there is none. Raises BadValue: invalid
    time."""
    if options.has("to-earliest"):
        return ToEarliest()
    if options.has("to-latest"):
        return ToLatest()
    if options.has("to-current"):
        return ToCurrent()
    if options.to_offset is not None:
        return ToOffset(options.to_offset)
    if options.shift_by is not None:
        return ShiftBy(options.shift_by)
    if options.to_datetime is not None:
        return ToTime(_moment(options.to_datetime))
    if options.by_duration is not None:
        return ToTime(_ago(options.by_duration))
    if options.from_file is not None:
        return ToListed(planned())
    names = ", ".join(f"[{name}]" for name in SCENARIOS)
    raise ToolUsageError(f"Option '[reset-offsets]' requires one of the following scenarios: [{names}]")


def _moment(text: str) -> int:
    """`--to-datetime` in ms since 1970, with Java's words for an invalid time."""
    parts = text.rstrip("T").split("T")
    if len(parts) < 2:
        why = "Error parsing timestamp. It does not contain a 'T' according to ISO8601 format"
        raise BadValue(f"java.text.ParseException: {why}")
    try:
        # No record is older than 1970, and brokers treat small negative times specially.
        return max(0, read_java_moment(text))
    except ValueError:
        zoned = text if any(sign in parts[1] for sign in "+-Z") else f"{text}Z"
        raise BadValue(f'java.text.ParseException: Unparseable date: "{zoned}"') from None


def _ago(text: str) -> int:
    """The time `--by-duration` before now, in ms since 1970."""
    try:
        at_ms = ago_ms(read_java_duration_ns(text), time.time_ns() // 1_000_000)
    except ValueError as error:
        why = f": {error.what}" if isinstance(error, DurationTooLong) else ""
        raise BadValue(f"Text cannot be parsed to a Duration{why}") from None
    if not _EARLIEST_INSTANT_S <= at_ms // 1000 <= _LATEST_INSTANT_S:
        raise BadValue("Instant exceeds minimum or maximum instant")
    if not -_LATEST_MOMENT_MS <= at_ms <= _LATEST_MOMENT_MS:
        raise BadValue("long overflow")
    return max(0, at_ms)


_UNREAD: Mapping[int | None, str] = {
    ErrorCode.INVALID_TOPIC_EXCEPTION: "Failed to fetch metadata for partition {} due to invalid topic `{}`",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "Failed to fetch metadata for partition {} because metadata for topic `{}` "
    "could not be found",
}
"""The tool's own words for a partition that a file names."""
INACTIVE = (GroupState.EMPTY.value, GroupState.DEAD.value)
_QUOTED_FROM = 25
"""Jackson quotes every value of at least this length."""
_LOWEST_PLAIN, _BACKSLASH = "-", "\\"
"""Jackson also quotes values with a character below the first one, or with the second one."""


def run(options: Options, source: LiveSource, kind: "type[Reset] | None" = None) -> int:
    """Set offsets, or only print them; the exit status. A failure stops it: groups set before stay set."""
    reset = (kind or Reset)(options, source)
    names, reset.status = reset.names()
    described = reset.describe(names)
    unread = cluster.unread_parts(
        {name: one for name, one in described.items() if not cluster.is_absent(one)},
        listed=not reset.options.groups,
    )
    try:
        resets = {name: reset.group(name, one) for name, one in described.items() if name not in unread}
    except BaseException:
        if reset.made:
            printing.print_remark(f"Set before the failure: {', '.join(reset.made)}")
        raise
    reset.show(resets)
    return max(reset.status, cluster.ReadGroups({}, unread).report(assignments=False))


class Reset:
    """A reset of groups of consumers: one command line on one cluster. Other types of groups override a part."""

    kind = GroupType.CLASSIC  # of a group that does not exist
    empty = "\nWarn: Partition {1} from topic {0} is empty. Falling back to latest known offset."

    def __init__(self, options: Options, source: LiveSource) -> None:
        self.status = ExitStatus.DONE  # The exit status so far
        self.made: list[str] = []  # The groups that were set
        self.name = ""  # The group that is being set
        self.client = cluster.client_of(source, "kohort offsets reset")
        self.options, self.source = options, source
        self.topics = ClusterTopics(self.client)

    def names(self) -> tuple[list[str], ExitStatus]:
        """The groups, each once, and the status of listing them."""
        return cluster.chosen_groups(self.options, self.source)

    def describe(self, names: Sequence[str]) -> Mapping[str, cluster.Described]:
        return cluster.describe_each(self.client, names)

    def show(self, resets: Resets) -> None:
        """Print the new offsets."""
        if self.options.has("export"):
            print_csv(resets, with_group=len(self.options.groups) != 1)
        else:
            print_resets(resets)

    def group(self, name: str, described: cluster.Described) -> Mapping[TopicPartition, int]:
        """Set one group, if that is requested; its new offsets by topic and partition."""
        if isinstance(described, Failure) and not cluster.is_absent(described):
            cluster.raise_failure([described], prefix=cluster.WRAPPED)
        # A group that does not exist counts as Dead: a commit creates it.
        state = GroupState.DEAD.value if isinstance(described, Failure) else str(described[1].group_state)
        return self.set_group(name) if self.is_inactive(name, state) else {}

    def is_inactive(self, group: str, state: str) -> bool:
        """Whether a group in this state can be reset; an error is printed if not."""
        if state not in INACTIVE:
            what = f"Assignments can only be reset if the group '{group}' is inactive"
            printing.print_error(f"{what}, but the current state is {state}.")
            self.status = ExitStatus.REFUSED
        return state in INACTIVE

    def set_group(self, name: str) -> Mapping[TopicPartition, int]:
        """Set one inactive group, if that is requested; its new offsets."""
        self.name, options = name, self.options
        needs_committed = options.has("all-topics", "to-current") or options.shift_by is not None
        committed = self.committed(name) if needs_committed else {}
        places = self.scope(committed)
        self.check(places)
        scenario = scenario_of(options, lambda: self.plan)
        if isinstance(scenario, ToListed):
            places = self._planned(name)
        places = sorted(places, key=cluster.by_place)
        offsets = self.new_offsets(scenario, name, places, committed)
        if options.has("execute") and offsets:
            self.commit(name, offsets)
            self.made.append(name)
        return offsets

    def new_offsets(
        self, scenario: Scenario, group: str, places: Sequence[TopicPartition], committed: Commits
    ) -> dict[TopicPartition, int]:
        """The new offset of each partition, with remarks. Raises ToolUsageError: there is nothing to shift."""
        positions = Positions(
            earliest=self.offsets(places, EARLIEST),
            end=self.offsets(places, LATEST),
            at=self.offsets(places, OffsetSpec(scenario.at_ms)) if isinstance(scenario, ToTime) else {},
        )
        offsets: dict[TopicPartition, int] = {}
        for key in places:
            change = reset(scenario, group, key, committed.get(key), positions)
            if not isinstance(change, OffsetChange):
                what = f"Cannot shift offset for partition {partition_name(key)}"
                raise ToolUsageError(f"{what} since there is no current committed offset")
            offsets[key] = change.after
            match scenario:
                case ToTime() if positions.at[key] < 0:
                    print(self.empty.format(*key))
                case ToOffset(offset):
                    self.remark(key, offset, positions)
                case ShiftBy(count):
                    self.remark(key, (change.before or 0) + count, positions)
                case ToListed(listed):
                    self.remark(key, listed[group][key], positions)
        return offsets

    def remark(self, place: TopicPartition, requested: int, positions: Positions) -> None:
        """Print a warning if a requested offset is not in the log."""
        start, end = positions.earliest[place], positions.end[place]
        if not start <= requested <= end:
            which, offset = ("higher than latest", end) if requested > end else ("lower than earliest", start)
            printing.print_warning(
                f"New offset ({requested}) is {which} offset for topic partition {partition_name(place)}. "
                f"Value will be set to {offset}{wording().end}"
            )

    def offsets(self, places: Sequence[TopicPartition], spec: OffsetSpec) -> dict[TopicPartition, int]:
        if not places:
            return {}
        answers = offsets_at(self.client, places, [spec])
        cluster.raise_failure(answers.failed.values(), prefix=cluster.WRAPPED)
        return {partition: offset for partition, (offset,) in answers.found.items()}

    def committed(self, group: str) -> Commits:
        """Where the group is. Raises ToolFailure: a part of that is not known."""
        offsets, unknown = cluster.committed_offsets(self.source, [group])
        # Else a part of the group would be left as it is.
        cluster.raise_failure(unknown.values(), prefix=cluster.WRAPPED)
        return dict(each_commit(offsets.get(group)))

    def scope(self, committed: Iterable[TopicPartition]) -> list[TopicPartition]:
        """The selected partitions, each once."""
        if self.options.has("all-topics"):
            return list(committed)
        if self.options.topics:
            return self.topics.meant(self.options.topics)
        if self.options.from_file is None:
            raise ToolUsageError("One of the reset scopes should be defined: --all-topics, --topic.")
        return []

    def check(self, places: Sequence[TopicPartition]) -> None:
        """Raise ToolFailure unless all of the partitions exist and have leaders."""
        cluster.raise_failure(self.topics.failures(topic for topic, _ in places), prefix=cluster.WRAPPED)
        for what, partitions in self.topics.unusable(places).items():
            if partitions:
                raise ToolFailure(f'The partitions "{",".join(map(partition_name, partitions))}" {what}')

    def _planned(self, group: str) -> list[TopicPartition]:
        """The partitions that the file lists for a group; an error is printed if there are none."""
        if group not in self.plan:
            printing.print_error(f"No reset plan for group {group} found{wording().end}")
            self.status = max(self.status, ExitStatus.UNREADABLE)
            return []
        places = list(self.plan[group])
        self.topics.describe(topic for topic, _ in places)
        for place in places:
            if (failure := self.topics.failed.get(place[0])) is not None:
                if why := _UNREAD.get(failure.code):
                    failure = replace(failure, message=why.format(partition_name(place), place[0]))
                raise ToolFailure(cluster.WRAPPED + exception_text(failure))
        self.check(places)
        return places

    @cached_property
    def plan(self) -> Resets:
        path = self.options.from_file
        return {} if path is None else read_plan(path, self.options.groups)

    def send(self, resets: Resets) -> Answers[str, Outcomes]:
        """Set the offsets of groups."""
        commits = {
            group: {place: NewOffset(offset=offset) for place, offset in offsets.items()}
            for group, offsets in resets.items()
        }
        return commit_offsets(self.client, commits)

    def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        send = partial(self.send, {group: offsets})
        answers = journaled_offsets(self.source, group, lambda _: offsets, send, self.kind)
        if group in answers.failed:
            failure = answers.failed[group]
            printing.remark_unknown([failure])
            raise ToolFailure(error_message(failure), status_of([failure]))
        failed = {partition_name(key): why for key, why in answers.found[group].items() if why is not None}
        if failed:
            raise ToolFailure(
                f"Failed altering group offsets for the following partitions: [{', '.join(failed)}]",
                status_of(failed.values()),
                reason="\n".join(f"{name}: {exception_text(why)}" for name, why in failed.items()),
            )


def read_plan(path: Path, groups: tuple[str, ...]) -> Resets:
    """Offsets by group; the last line of a partition counts. A file without groups is for one `--group`. Raises
    ToolFailure: it cannot be read, or a line of it is not an offset."""
    try:
        text = read_bounded(path, MOST_BYTES).decode("utf-8", JAVA)
    except (OSError, ValueError) as error:
        said = f"java.io.IOException: Unable to read file {path}"
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise ToolFailure(said, reason=f"{path}: {why}") from None
    try:
        file = read_offsets(text, last_wins=True)
    except MalformedOffsets as error:
        raise ToolFailure(f"{path}, {error}") from None
    if file.by_group is not None:
        return file.by_group
    if not file.of_one_group:
        raise ToolFailure(f"{path}: contains no offsets")
    return {groups[0]: file.of_one_group} if len(groups) == 1 else {}


def print_resets(resets: Resets, widths: Sequence[int] = ()) -> None:
    """A table; only an empty line if there is no group. `widths`: of GROUP, TOPIC and NEW-OFFSET, by default those
    of the names."""
    rows = list(_rows(resets))
    group, topic, last = widths or (
        printing.width_of(resets), printing.width_of(topic for _, topic, _, _ in rows), 0,
    )  # fmt: skip
    text = printing.table(
        rows,
        printing.ToolColumn("GROUP", lambda line: line[0], group),
        printing.ToolColumn("TOPIC", lambda line: line[1], topic),
        printing.ToolColumn("PARTITION", lambda line: line[2], 10),
        printing.ToolColumn("NEW-OFFSET", lambda line: line[3], last),
    )
    print(f"\n{text}" if resets else "")


def print_csv(resets: Resets, *, with_group: bool) -> None:
    """A line per partition and, as in the tool, an empty one after them. Jackson quotes some names."""

    def quoted(text: str) -> str:
        special = any(character < _LOWEST_PLAIN or character == _BACKSLASH for character in text)
        quotes = special or printing.java_length(text) >= _QUOTED_FROM
        return '"' + text.replace('"', '""') + '"' if quotes else text

    for group, topic, partition, offset in _rows(resets):
        names = (quoted(group), quoted(topic)) if with_group else (quoted(topic),)
        print(*names, partition, offset, sep=",")
    print()


def _rows(resets: Resets) -> Iterator[tuple[str, str, int, int]]:
    for group, offsets in resets.items():
        for (topic, partition), offset in offsets.items():
            yield group, topic, partition, offset
