"""The story of a run: its events as lines of text. Lines are formatted only when they are read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from coordinator.consumer import outputs
from coordinator.consumer.leader import by_topic
from coordinator.engine import records as logged
from coordinator.engine.classic.heartbeat import HeartbeatAnswer
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeatAnswer
from coordinator.engine.offsets.commit import OffsetCommitAnswer
from coordinator.engine.offsets.fetch import OffsetFetchAnswer
from coordinator.simulation.node import CoordinatorNode, LogAppend
from coordinator.simulation.process import Process
from coordinator.simulation.result import StoryEntry
from coordinator.simulation.schedule import Schedule
from coordinator.simulation.watcher import Watcher
from groups.times import seconds_text
from wire.errors import ErrorCode

COORDINATOR = "coordinator"
LONGEST = 400  # The length of a violation's story: the last lines before the violation


class RunStory(Watcher):
    """See the module. `names` returns a member's name by its id, `topics` a topic's name by its id."""

    def __init__(
        self, schedule: Schedule, names: Callable[[str], str], topics: Callable[[UUID], str], *, is_kept: bool
    ) -> None:
        self._schedule, self._names, self._topics = schedule, names, topics
        self._is_kept = is_kept
        self._lines: list[tuple[int, str, Callable[[object], str], Any]] = []

    def add(self, who: str, what: str) -> None:
        self._add(who, str, what)

    def _add(self, who: str, words: Callable[[Any], str], subject: object) -> None:
        if self._is_kept:
            self._lines.append((self._schedule.now_ms, who, words, subject))

    def appended(self, batch: LogAppend) -> None:
        for record in batch.records if self._is_kept else ():
            if type(record) is not logged.OffsetRecord:
                self._add(COORDINATOR, self._record, record)

    def failed_to_load(self, node: CoordinatorNode, error: Exception) -> None:
        self.add(COORDINATOR, f"node {node.number} cannot load the log: {error}")

    def lost(self, node: CoordinatorNode, records: Sequence[logged.Record]) -> None:
        self.add(COORDINATOR, f"node {node.number} crashes before it has appended {len(records)} records")

    def calling(self, process: Process, callback: outputs.Callback) -> None:
        self._add(process.name, _callback, callback)
        if (method := process.script.method_of(callback.kind)) is not callback.kind:
            self.add(
                process.name, f"{_CALLED[callback.kind]} calls {_CALLED[method]}: there is no separate method"
            )

    def assignor_called(self, process: Process, call: outputs.AssignorCall) -> None:
        self._add(process.name, self._assignor_call, call)

    def called_back(self, process: Process, callback: outputs.Callback, threw: bool) -> None:
        if threw:
            self.add(process.name, f"the listener throws in {callback.kind.value}")

    def warned(self, process: Process, warned: outputs.Warned) -> None:
        self.add(process.name, f"logs a warning: {warned.message}")

    def raised(self, process: Process, raised: outputs.Raised) -> None:
        self.add(process.name, f"throws {raised.error} {raised.message}".rstrip())

    def committed(self, process: Process, committed: outputs.Committed) -> None:
        if committed.error:
            what = partition_text(frozenset(committed.offsets))
            self.add(process.name, f"commit of {what} fails: {committed.error}")

    def received(self, process: Process, answer: object) -> None:
        self._add(process.name, _answer, answer)

    def failed(self, process: Process) -> None:
        self.add(process.name, "a request fails: the connection is lost")

    def deadlocked(self, process: Process) -> None:
        self.add(process.name, "is deadlocked: its threads wait for each other")

    def collecting(self, process: Process, changes: outputs.CollectingChanges) -> None:
        self.add(process.name, f"collects changes of topics for {seconds_text(changes.for_ms / 1000)}")

    def ended(self, process: Process) -> None:
        self.add(process.name, "its process has stopped")

    def last_lines(self) -> tuple[str, ...]:
        """The last lines as text."""
        lines = [line(entry) for entry in self.entries()]
        return tuple(lines[-LONGEST:])

    def errors(self) -> Iterator[tuple[int, str, ErrorCode]]:
        """Time, receiver and error of answered requests, in order of time; empty if no story is kept."""
        for at_ms, who, words, subject in self._lines:
            if words is _answer and (error := error_of(subject)):
                yield at_ms, who, error

    def entries(self) -> tuple[StoryEntry, ...]:
        """All lines, except for heartbeats that change nothing and commits that are accepted."""
        return tuple(
            StoryEntry(at_s=at_ms / 1000, who=who, what=what)
            for at_ms, who, words, subject in self._lines
            if (what := words(subject))
        )

    def _record(self, record: logged.Record) -> str:
        match record:
            case logged.ClassicGroupRecord(value=None):
                return "the classic group is deleted"
            case logged.ClassicGroupRecord(value=value):
                if not value or not value.members:
                    return f"generation {value.generation if value else 0} is Empty"
                names = " ".join(self._names(member.member) for member in value.members)
                leader = self._names(value.leader or "")
                return f"generation {value.generation} is Stable: {value.protocol}, leader {leader}, members {names}"
            case logged.ConsumerGroupRecord(value=group):
                return f"group epoch {group.epoch}" if group else "the consumer group is deleted"
            case logged.TargetEpochRecord(value=target):
                return f"target assignment of epoch {target.epoch}" if target else ""
            case logged.ConsumerMemberRecord(member=member, value=None):
                return f"{self._names(member)} is removed"
            case logged.CurrentAssignmentRecord(member=member, value=current) if current:
                revoking = f", to revoke {self._named(current.revoking)}" if current.revoking else ""
                has = f"{self._named(current.assigned)}{revoking}"
                return f"{self._names(member)} is at epoch {current.epoch} with {has}"
            case _:
                return ""

    def _assignor_call(self, call: outputs.AssignorCall) -> str:
        """`by-load.assign: a "3", b - -> a orders 0 1 "6", b orders 2 "6"`, with user data in quotation marks."""
        match call.method:
            case outputs.AssignorMethod.SUBSCRIPTION_USER_DATA:
                text = f"subscriptionUserData: {' '.join(call.topics)}"
                result = bytes_text(call.user_data)
            case outputs.AssignorMethod.METADATA:
                text, result = f"metadata: {' '.join(call.topics)}", bytes_text(call.user_data)
                if call.metadata and call.metadata.reason:
                    result += f", reason {call.metadata.reason}"
            case outputs.AssignorMethod.ASSIGN:
                sent = (f"{self._names(share.member)} {bytes_text(share.sent)}" for share in call.members)
                text = f"assign: {', '.join(sent)}"
                result = "; ".join(
                    f"{self._names(share.member)} {partition_text(share.partitions)} {bytes_text(share.user_data)}"
                    for share in call.members
                )
            case outputs.AssignorMethod.ON_ASSIGNMENT:
                generation = call.group.generation if call.group else -1
                given = f"{partition_text(call.partitions)} {bytes_text(call.user_data)}"
                code = f", error {call.error_code}" if call.error_code else ""
                text, result = f"onAssignment: {given}, generation {generation}{code}", ""
        if call.error:
            result = f"throws {call.error}"
        return f"{call.assignor}.{text}{f' -> {result}' if result else ''}"

    def _named(self, partitions: logged.TopicPartitions) -> str:
        return partition_text(
            frozenset(
                outputs.TopicPartition(self._topics(topic), number)
                for topic, numbers in partitions.items()
                for number in numbers
            )
        )


def line(entry: StoryEntry) -> str:
    """A line of a story: `12.345 s  b  JoinGroup -> REBALANCE_IN_PROGRESS`."""
    return f"{entry.at_s:.3f} s  {entry.who or '-'}  {entry.what}"


def partition_text(partitions: outputs.Partitions) -> str:
    """Partitions in order: `orders 0 1 2, payments 0`; `nothing` for none."""
    texts = (f"{topic} {' '.join(map(str, numbers))}" for topic, numbers in by_topic(partitions).items())
    return ", ".join(texts) or "nothing"


def bytes_text(data: bytes | None) -> str:
    """User data: text in quotation marks if it can be printed, else hexadecimal digits; `-` for none."""
    if data is None:
        return "-"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = ""
    return f'"{text}"' if text.isprintable() and (text or not data) else f"0x{data.hex()}"


def error_of(answer: object) -> ErrorCode:
    """The error of any answer: the top-level one or, without one, that of its first refused partition or group."""
    errors: Iterable[object] = (getattr(answer, "error", None),)
    if type(answer) is OffsetCommitAnswer:
        errors = [partition[3] for partition in answer.partitions]
    elif type(answer) is OffsetFetchAnswer:
        errors = [group.error for group in answer.groups]
    for error in errors:
        if error and isinstance(error, ErrorCode):
            return error
    return ErrorCode.NONE


_QUIET = (OffsetCommitAnswer, OffsetFetchAnswer, HeartbeatAnswer)
"""Answers that get a line only if they contain an error."""


def _answer(answer: object) -> str:
    name = type(answer).__name__.removesuffix("Answer")
    if answer is None or isinstance(answer, int):
        return f"FindCoordinator -> {'none' if answer is None else f'node {answer}'}"
    error = error_of(answer)
    if error:
        return f"{name} -> {error.name}"
    match answer:
        case JoinGroupAnswer(generation=generation, leader=leader, member=member):
            return f"{name} -> generation {generation}, {'leader' if leader == member else 'follower'}"
        case SyncGroupAnswer():
            return f"{name} -> assignment"
        case ConsumerGroupHeartbeatAnswer(assignment=assignment, epoch=epoch):
            return "" if assignment is None and epoch > 0 else f"{name} -> epoch {epoch}"
    return "" if isinstance(answer, _QUIET) else name


_CALLED = {
    outputs.CallbackKind.ASSIGNED: "onPartitionsAssigned",
    outputs.CallbackKind.REVOKED: "onPartitionsRevoked",
    outputs.CallbackKind.LOST: "onPartitionsLost",
}


def _callback(callback: outputs.Callback) -> str:
    return f"{_CALLED[callback.kind]}: {partition_text(callback.partitions)}"
