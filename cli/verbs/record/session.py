"""Run `kohort record`: fetch, record and write, until a signal or, with `--once`, the end of the log."""

import ctypes
import gc
import json
import re
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from queue import Empty
from uuid import UUID

import typer

from cli.errors import CommandError, ExitStatus, UsageError
from cli.metric_labels import parse_labels
from cli.options import SourceOptions
from cli.otlp.options import PushOptions
from cli.otlp.pusher import Pusher
from cli.otlp.receiver import receiver_of
from cli.output import notice, write_next
from cli.progress import Spinner
from cli.selection import ReusableSource, data_directory, is_live
from cli.sources.history.live import HistoryRefused
from cli.sources.journal.schema import default_journal
from cli.sources.journal.writer import CannotWrite, JournalWriter
from cli.stopping import StopFlag, finishing
from cli.times import milliseconds, moment
from cli.verbs.exporter.page import LABELS
from cli.verbs.record.following import PAUSES_S, Follower, Lost, RecordedCluster
from cli.verbs.record.observer import Observer, SeenState
from cli.verbs.record.options import RecordOptions
from cli.verbs.record.posts import Receivers, Sender
from cli.verbs.record.pushed import pushed_metrics
from cli.verbs.record.reading import LogReading
from cli.verbs.record.recorder import LOOK_BACK_MS, LogRecorder
from cli.verbs.record.text import finding_line, rebalance_line, status_text
from cli.verbs.watch.event_text import ranges_text
from wire.client.errors import WireError
from wire.client.metadata import OFFSETS_TOPIC
from wire.errors import ErrorCode, Failure

FLUSH_S, URGENT_S = 5.0, 1.0
_FLUSH_PART = 10  # writing takes at most this part of the time
_PRUNE_S = 60.0
_MMAP_THRESHOLD, _LARGE_BLOCK = -3, 256 * 1024  # M_MMAP_THRESHOLD of mallopt
_NAMES_S = 10.0  # the least time between two requests for the names of topics
_GRACE_S = 3.0
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)?")
_UNITS = {"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12} | {
    f"{prefix}iB": 1 << 10 * power for power, prefix in enumerate("KMGT", 1)
}
LEAST_SIZE = 1_000_000


def record_cluster(options: RecordOptions, push: PushOptions, source: SourceOptions) -> None:
    """Record until a signal; UNREADABLE if `--once` could not read everything."""
    if not is_live(source):
        raise UsageError("kohort record follows a live cluster: name it with --bootstrap-server or --context")
    receivers = Receivers.of(options.webhook, options.webhook_header, options.on_finding, options.per_hour)
    otlp = receiver_of(push)
    if push.label and otlp is None:
        raise UsageError("--label needs --otlp URL")
    labels = parse_labels(push.label or (), LABELS)
    limits = _Limits(
        keep_ms=milliseconds(options.keep, "--keep", unit=None),
        most_bytes=None if options.max_size is None else read_size(options.max_size),
        since_ms=moment(options.since, "--since"),
    )
    _return_large_blocks()
    with ExitStack() as stack:
        stop = stack.enter_context(finishing())
        opened = stack.enter_context(ReusableSource(source))
        connection = RecordedCluster(opened, stop)
        cluster = connection.cluster_id()
        if cluster is None:
            return
        file = options.journal
        if file is None:
            file = default_journal(data_directory(), cluster)
            file.parent.mkdir(parents=True, exist_ok=True)
        journal = JournalWriter(file, {"cluster": cluster, "source": opened.name})
        stack.callback(journal.close)
        if journal.about.get("cluster") != cluster:
            raise CommandError(
                f"{journal.file} is the journal of the cluster {journal.about.get('cluster')}, and {opened.name} is "
                f"the cluster {cluster}: name another --journal"
            )
        session = _Session(options, limits, connection, journal, stop)
        if otlp is not None:
            session.pusher = Pusher(otlp, lambda: pushed_metrics(journal.file, labels), notice)
            stack.callback(session.pusher.finish)
        if receivers:
            session.sender = Sender(receivers, notice)
            session.sender.send(journal.posts)
        observer = session.observer = Observer(source, options.every, lag=options.lag, report=notice)
        try:
            with Spinner(f"recording {opened.name}", is_quiet=not sys.stdout.isatty()) as spinner:
                session.spinner = spinner
                session.run()
        finally:
            observer.finish(_GRACE_S)
            if session.sender is not None:
                session.sender.finish(_GRACE_S)
    if session.problems or not session.is_pushed:
        raise typer.Exit(int(ExitStatus.UNREADABLE))


def read_size(text: str) -> int:
    """The bytes of `--max-size`. Raises UsageError."""
    match = _SIZE.fullmatch(text.strip())
    size = 0 if match is None else int(float(match[1]) * _UNITS[match[2] or "B"])
    if size < LEAST_SIZE:
        raise UsageError(f"--max-size {text}: write a size of at least 1MB, such as 500MB or 2GB")
    return size


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limits:
    keep_ms: int
    most_bytes: int | None
    since_ms: int | None


class _Session:
    def __init__(
        self,
        options: RecordOptions,
        limits: _Limits,
        connection: RecordedCluster,
        journal: JournalWriter,
        stop: StopFlag,
    ) -> None:
        self._options, self._limits, self._connection, self._stop = options, limits, connection, stop
        self.journal = journal
        self.sender: Sender | None = None
        self.pusher: Pusher | None = None
        self.is_pushed, self._pushed_s = True, time.monotonic()
        self.observer: Observer | None = None
        self.spinner: Spinner | None = None
        self.problems: dict[int, str] = {}  # of partitions of the log
        self._count = 0  # of partitions of the log; 0: unknown, or the cluster has no groups yet
        self._names_s, self._names = -_NAMES_S, dict[UUID, str]()
        self._recorder = LogRecorder(journal, self._look_up, report=notice)
        self._watches = self._recorder.watches
        self.seen = SeenState(journal, self._recorder.log_time, self._recorder.places.number)
        self._watches.knowledge = self.seen.knowledge
        self._flushed_s = self._pruned_s = time.monotonic()
        self._flush_took_s = 0.0
        self._unwritable = ""

    def _look_up(self) -> Mapping[UUID, str]:
        if time.monotonic() - self._names_s >= _NAMES_S:
            self._names_s = time.monotonic()
            self._names = self._connection.topic_names() or self._names
        return self._names

    def run(self) -> None:
        self._take_seen(_GRACE_S)  # session timeouts decide verdicts: they are known before the log is read
        started_s, counted_before = time.monotonic(), 0
        while not self._stop.is_set:
            try:
                follower = self._connection.get()
                self._start_partitions(follower)
                self._fetch(follower)
                self._connection.succeed()
            except WireError as error:
                self._connection.fail(error)
            self._recorder.settle(_now_ms())
            self._take_seen()
            self._flush_if_due()
            now_s = time.monotonic()
            if self.spinner is not None and now_s - started_s >= 1:
                rate = (self._recorder.commits - counted_before) / (now_s - started_s)
                started_s, counted_before = now_s, self._recorder.commits
                self.spinner.show(status_text(self._recorder, rate, self.journal), restarted=False)
            if self._options.once and self._is_at_end():
                break
            if self.pusher is not None and not self._options.once:
                self._push_if_due(self.pusher)
        self._flush()
        if self.pusher is not None and self._options.once:
            self.is_pushed = self.pusher.push_now()

    def _start_partitions(self, follower: Follower) -> None:
        readings = self._recorder.progress
        if not self._count:
            count = follower.partitions()
            if isinstance(count, Failure):
                if count.code == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
                    raise HistoryRefused(count.name)
                raise CommandError(f"{OFFSETS_TOPIC}: {count.message}")
            self._count = count
        missing = [number for number in range(self._count) if number not in readings]
        if not self._count and not self._options.once:
            self._stop.wait(1.0)
        if not missing:
            return
        stored = self.journal.positions
        times = {number: stored[number].time_ms for number in missing if number in stored}
        wanted = {number: max(at - LOOK_BACK_MS, 0) for number, at in times.items() if at is not None}
        if self._limits.since_ms is not None:
            wanted |= {number: self._limits.since_ms for number in missing if number not in stored}
        starts = follower.starts(missing, wanted)
        failed = {number: start.message for number, start in starts.items() if isinstance(start, Failure)}
        self._note(failed, missing)
        for number, start in starts.items():
            if isinstance(start, Failure):
                continue
            before = stored.get(number)
            self._recorder.start(
                LogReading(number=number, position=start)
                if before is None
                else LogReading.after(number, before, start)
            )

    def _fetch(self, follower: Follower) -> None:
        positions = {
            number: (reading.position, reading.checked_epoch)
            for number, reading in self._recorder.progress.items()
        }
        failed: dict[int, str] = {}
        for number, answer in follower.fetch(positions):
            if self._stop.is_set:
                return
            if isinstance(answer, Failure):
                if answer.code == ErrorCode.TOPIC_AUTHORIZATION_FAILED and not self._recorder.has_read:
                    raise HistoryRefused(answer.name)
                failed[number] = answer.message
            elif isinstance(answer, Lost):
                self._flush()
                if self._stop.is_set:
                    return
                self._recorder.lose(answer)
                for _, start, end, _, _, reason in self.journal.unwritten.gaps:
                    notice(f"{OFFSETS_TOPIC}-{number}: offsets {start} to {end - 1} are missing: {reason}")
                self._flush()
            else:
                self._recorder.take(answer, _now_ms())
            self._flush_if_due()
        self._note(failed, positions)

    def _note(self, failed: Mapping[int, str], tried: Collection[int]) -> None:
        """Report partitions that cannot be read, or can be again, those with the same message in one line."""
        new: dict[str, list[int]] = {}
        for number, message in failed.items():
            if self.problems.get(number) != message:
                new.setdefault(message, []).append(number)
        again = [number for number in tried if number in self.problems and number not in failed]
        for message, numbers in new.items():
            notice(f"{_partitions(numbers)}: {message}")
        if again:
            notice(f"{_partitions(again)} can be read again")
        self.problems = {**self.problems, **failed}
        for number in again:
            del self.problems[number]

    def _is_at_end(self) -> bool:
        readings = self._recorder.progress
        return all(
            number in self.problems or (number in readings and readings[number].is_caught_up)
            for number in range(self._count)
        )

    def _take_seen(self, wait_s: float = 0.0) -> None:
        if self.observer is None:
            return
        self.observer.ask(self._watches.new_consumers)
        self._watches.new_consumers.clear()
        try:
            while True:
                seen = self.observer.seen.get(timeout=wait_s) if wait_s else self.observer.seen.get_nowait()
                self.journal.unwritten.posts += self.seen.take(seen)
                self._watches.learn()
                wait_s = 0.0
        except Empty:
            return

    # Writing.

    def _push_if_due(self, pusher: Pusher) -> None:
        if time.monotonic() - self._pushed_s >= self._options.every:
            self._pushed_s = time.monotonic()
            pusher.push()

    def _flush_if_due(self) -> None:
        unwritten = self.journal.unwritten
        is_urgent = unwritten.rebalances or unwritten.posts or unwritten.findings
        least_s = max(URGENT_S if is_urgent else FLUSH_S, _FLUSH_PART * self._flush_took_s)
        if time.monotonic() - self._flushed_s >= least_s:
            self._flush()

    def _flush(self) -> None:
        """Write. While the file cannot be written, nothing is read: the log keeps it."""
        attempt = 0
        while True:
            started_s = time.process_time()  # on a busy machine, waiting is no reason to write less often
            try:
                self._prune()
                if self.sender is not None:
                    while self.sender.done:
                        self.journal.unwritten.posted.append(self.sender.done.popleft())
                rebalances, posts = self._recorder.flush(_now_ms())
                break
            except CannotWrite as error:
                if str(error) != self._unwritable:
                    self._unwritable = str(error)
                    notice(f"{error}; recording continues when it can be")
                if self._stop.is_set:
                    return
                self._stop.wait(PAUSES_S[min(attempt, 3)])
                attempt += 1
        if self._unwritable:
            self._unwritable = ""
            notice(f"{self.journal.file} can be written again")
        self._flushed_s = time.monotonic()
        self._flush_took_s = time.process_time() - started_s
        for rebalance, members in rebalances:
            _print(rebalance_line(rebalance, members))
        for _, document in posts:
            _print(finding_line(json.loads(document)))
        if self.sender is None:
            self.journal.unwritten.posted += [number for number, _ in posts]
        else:
            self.sender.send(posts)

    def _prune(self) -> None:
        if time.monotonic() - self._pruned_s < _PRUNE_S:
            return
        self._pruned_s = time.monotonic()
        self.journal.prune(_now_ms(), self._limits.keep_ms, self._limits.most_bytes)
        gc.collect()  # States of groups are cycles, which Python looks for too seldom in a process with many objects.
        with suppress(AttributeError, OSError):  # Only the C library of GNU has it.
            # It keeps memory that was freed between long-lived objects, a tenth of all.
            ctypes.CDLL(None).malloc_trim(0)


def _return_large_blocks() -> None:
    """Have the C library return blocks to the system that are as large as the columns of commits, which live shortly.
    By default it keeps ever larger ones for itself."""
    with suppress(AttributeError, OSError):  # Only the C library of GNU has it.
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE_BLOCK)


def _partitions(numbers: Sequence[int]) -> str:
    return f"{OFFSETS_TOPIC}: {'partition' if len(numbers) == 1 else 'partitions'} {ranges_text(sorted(numbers))}"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _print(line: str) -> None:
    write_next(lambda out: out.write(line))
