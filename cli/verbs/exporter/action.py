"""Run `kohort exporter`: polls in this thread, scrapes in others."""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, NoReturn

import typer

from cli.clusters import side_by_side
from cli.errors import CommandError, ExitStatus, UsageError, is_expected
from cli.metric_labels import parse_labels
from cli.options import SourceOptions
from cli.otlp.options import PushOptions
from cli.otlp.pusher import PushCounts, Pusher
from cli.otlp.receiver import receiver_of
from cli.output import about, notice, write_out
from cli.polls.reading import LagTimes, PollResult, Scope, read_groups
from cli.selection import ReusableSource, is_live, name_filter
from cli.sources.contexts.resolve import of_cluster
from cli.sources.journal.reader import JournalReader
from cli.sources.journal.schema import JournalError
from cli.times import milliseconds
from cli.verbs.exporter.newest_page import ClusterMetrics, NewestPage, now_ms
from cli.verbs.exporter.options import DEFAULT_LISTEN, ExporterOptions, SampleLevel
from cli.verbs.exporter.page import LABELS, PageLimits
from cli.web_guard_options import refuse_guard
from groups.counts import counted
from groups.files import replace_file
from groups.listing import Problem
from wire.client.address import Address

if TYPE_CHECKING:
    from cli.web_guard import Guard

SHOWN_PROBLEMS = 5
LEAST_INTERVAL_MS, MOST_INTERVAL_MS = 1_000, 86_400_000


def export(options: ExporterOptions, push: PushOptions, source: SourceOptions) -> None:
    """Poll, and serve or write the metrics, until SIGTERM or Ctrl-C, or once; UNREADABLE if `--once` was incomplete."""
    receiver = receiver_of(push)
    guard = _guard(options, pushes=receiver is not None)
    textfile = _textfile(options)
    interval_ms = milliseconds(options.interval, "--interval")
    if not LEAST_INTERVAL_MS <= interval_ms <= MOST_INTERVAL_MS:
        raise UsageError(
            f"--interval {options.interval}: polls are at least a second and at most a day apart"
        )
    if options.journal is not None and source.clusters:
        raise UsageError("--journal has the groups of one cluster: name one context")
    labels = parse_labels(push.label or (), LABELS)
    scope = Scope(
        groups=None if options.match is None else name_filter(options.match),
        topics=None if options.match_topic is None else name_filter(options.match_topic, "--match-topic"),
    )
    sources: dict[str | None, SourceOptions] = {name: of_cluster(source, name) for name in source.clusters}
    sources = sources or {None: source}
    if options.owner is not None and options.per is not SampleLevel.PARTITION:
        raise UsageError("--owner is a label of partitions: add --per partition")
    limits = PageLimits(
        per=options.per,
        max_series=options.max_series,
        owner=options.owner,
        owner_limit=options.owner_limit,
    )
    counts = None if receiver is None else PushCounts()
    newest = NewestPage(limits, None if options.once else interval_ms, [*sources], labels, counts)
    pusher = None if receiver is None else Pusher(receiver, newest.pushed, notice, counts)
    with ExitStack() as stack:
        pollers = [
            _Poller(
                stack.enter_context(ReusableSource(of)),
                replace(scope, commit_times=options.commit_times or not is_live(of), is_live=is_live(of)),
                newest.clusters[name],
                options.journal,
                name,
            )
            for name, of in sources.items()
        ]
        polls = _Polls(pollers)
        if options.once:
            polls.once()
            if textfile is not None:
                _write(textfile, newest)
            elif pusher is None:
                write_out(lambda out: out.write(_text(newest)))
            is_pushed = pusher is None or pusher.push_now()
            if not is_pushed or any(
                not one.state.is_up or one.state.problems for one in newest.clusters.values()
            ):
                raise typer.Exit(int(ExitStatus.UNREADABLE))
            return
        # SIGTERM acts like Ctrl-C: a poll may wait half a minute, and a service manager kills the process before.
        stack.callback(signal.signal, signal.SIGTERM, signal.getsignal(signal.SIGTERM))
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        if guard is not None:
            stack.enter_context(_serving(guard, newest))
        if receiver is not None and pusher is not None:
            notice(f"pushing metrics to {receiver.name} every {options.interval}")
            stack.callback(pusher.finish)
        with suppress(KeyboardInterrupt):
            _run(polls, newest, interval_ms / 1000, guard, textfile, pusher)
    notice("stopped")


def _guard(options: ExporterOptions, *, pushes: bool) -> Guard | None:
    """The guard of the page; None if none is served."""
    if options.once and options.listen is not None:
        raise UsageError("--once and --listen cannot be used together")
    if options.listen is None and (options.textfile is not None or options.once or pushes):
        refuse_guard(options, "--listen HOST:PORT")
        return None
    from cli.web_guard import guard_of

    return guard_of(options, DEFAULT_LISTEN)


def _run(
    polls: _Polls,
    newest: NewestPage,
    interval_s: float,
    guard: Guard | None,
    textfile: Path | None,
    pusher: Pusher | None,
) -> NoReturn:
    unwritten = ""
    while True:
        started = time.monotonic()
        polls.poll(interval_s)
        if textfile is not None:
            before, unwritten = unwritten, ""
            try:
                _write(textfile, newest)
            except CommandError as error:
                unwritten = str(error)
                if unwritten != before:
                    notice(unwritten)
        if pusher is not None:
            pusher.push()
        if guard is not None:
            guard.renew(notice)
        time.sleep(max(0.0, started + interval_s - time.monotonic()))


class _Poller:
    """Reads the groups of a cluster, and prints new problems on standard error."""

    def __init__(
        self,
        opened: ReusableSource,
        scope: Scope,
        newest: ClusterMetrics,
        journal: Path | None,
        cluster: str | None,
    ) -> None:
        """`cluster` is its name if there are several; problems of one do not stop the exporter."""
        self.newest, self._journal = newest, journal
        self._opened, self._scope, self.cluster = opened, scope, cluster
        self._times = LagTimes()
        self._groups: frozenset[str] | None = None
        self._reported: frozenset[str] = frozenset()

    def poll(self) -> None:
        """Poll once. Raises WireError. Raises CommandError: nothing can be read."""
        started = time.monotonic()
        gc.disable()  # it would take a third of a poll's time: its many objects have no cycles
        try:
            groups = self._groups or frozenset()
            reading = read_groups(self._opened.get(), self._scope, groups, self._times, now_ms)
            if self._journal is not None:
                reading = with_totals(reading, self._journal)
            self.newest.put(reading, started)
        finally:
            gc.enable()
        self._opened.print_notices()
        self._groups = frozenset(reading.groups)
        self._report_new([f"{problem.subject}: {problem.message}" for problem in reading.problems])

    def poll_or_wait(self) -> None:
        """Poll again at the next interval if a cluster does not answer; raise a permanent error of the first."""
        try:
            self.poll()
        except Exception as error:
            is_permanent = self._groups is None and not self._opened.may_pass(error)
            if not is_expected(error) or (is_permanent and self.cluster is None):
                raise
            self._opened.close()
            self.newest.fail()
            self._report_new([f"{str(error).rstrip('.')}; the next poll tries again"])

    def _report_new(self, lines: Sequence[str]) -> None:
        new = [line for line in dict.fromkeys(lines) if line not in self._reported]
        for line in new[:SHOWN_PROBLEMS]:
            notice(line)
        if len(new) > SHOWN_PROBLEMS:
            notice(f"and {counted(len(new) - SHOWN_PROBLEMS, 'problem')} more")
        if self._reported and not lines:
            notice("everything can be read again")
        self._reported = frozenset(lines)


class _Polls:
    """The polls of all clusters. The only one is polled in this thread, several in a thread each: one that does not
    answer delays no other."""

    def __init__(self, pollers: Sequence[_Poller]) -> None:
        self._pollers = pollers
        self._threads: dict[_Poller, Thread] = {}
        self._errors: list[Exception] = []

    def once(self) -> None:
        """Poll each cluster once. Raises as `_Poller.poll` if there is only one."""
        if self._pollers[0].cluster is None:
            self._pollers[0].poll()
            return
        pollers = {poller.cluster or "": poller for poller in self._pollers}
        for name, result in side_by_side(lambda name: pollers[name].poll(), pollers).items():
            if isinstance(result, Exception):
                pollers[name].newest.fail()
                notice(f"{name}: {result}")

    def poll(self, limit_s: float) -> None:
        """Begin a poll of each cluster that is not being polled; return when all have ended, or after `limit_s`."""
        if self._pollers[0].cluster is None:
            self._pollers[0].poll_or_wait()
            return
        end = time.monotonic() + limit_s
        for poller in self._pollers:
            if poller not in self._threads or not self._threads[poller].is_alive():
                self._threads[poller] = Thread(target=self._poll, args=(poller,), daemon=True)
                self._threads[poller].start()
        for thread in self._threads.values():
            thread.join(max(0.0, end - time.monotonic()))
        if self._errors:
            raise self._errors[0]

    def _poll(self, poller: _Poller) -> None:
        with about(poller.cluster or ""):
            try:
                poller.poll_or_wait()
            except Exception as error:
                self._errors.append(error)


def with_totals(reading: PollResult, file: Path) -> PollResult:
    """The reading with the counters of a journal. Its problems are among those of the reading."""
    totals: dict[str, dict[str, int]] = {}
    try:
        with JournalReader(file) as journal:
            totals = journal.totals()
            problems = journal.problems
    except JournalError as error:
        problems = [str(error).removeprefix(f"{file}: ")]
    named = (Problem(subject=str(file), message=message) for message in problems)
    return replace(reading, totals=totals, problems=(*reading.problems, *named))


def _textfile(options: ExporterOptions) -> Path | None:
    file = options.textfile
    if file is None:
        return None
    if file.suffix != ".prom":
        raise UsageError(f"--textfile {file}: the node exporter reads files that end in .prom only")
    if not file.parent.is_dir():
        raise UsageError(f"--textfile {file}: {file.parent} is not a directory")
    return file


@contextmanager
def _serving(guard: Guard, newest: NewestPage) -> Iterator[None]:
    """Answer scrapes in threads. Raises CannotListen."""
    from cli.verbs.exporter.endpoint import METRICS, ExporterPages
    from coordinator.server.listener import CannotListen
    from coordinator.server.web import WebServer

    host, port = guard.address.host, guard.address.port
    try:
        pages = ExporterPages(newest=newest, login=guard.login, report=notice)
        server = WebServer(host, port, pages.page, notice, lambda: guard.tls)
    except OSError as error:
        raise CannotListen(Address(host, port), error) from None
    with server:
        at = Address(host, server.server_port)
        scheme = "http" if guard.tls is None else "https"
        write_out(lambda out: out.write(f"Serving metrics on {scheme}://{at}{METRICS}\n"))
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


def _text(newest: NewestPage, *, process: bool = True) -> str:
    return b"".join(newest.exposition(process=process).pieces).decode()


def _write(file: Path, newest: NewestPage) -> None:
    """Replace the file atomically, without metrics of this process: the node exporter has those names too."""
    try:
        replace_file(file, [_text(newest, process=False)], mode=0o644)
    except OSError as error:
        raise CommandError(f"{file}: cannot be written: {error.strerror or error}") from None
