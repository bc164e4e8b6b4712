"""Run `kohort exporter`: polls in this thread, scrapes in others."""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import NoReturn

from cli.errors import CommandError, ExitStatus, UsageError, is_expected
from cli.options import SourceOptions
from cli.output import notice, write_out
from cli.selection import ReusableSource, is_live, name_filter
from cli.times import milliseconds
from cli.verbs.exporter.cache import FigureCache, now_ms
from cli.verbs.exporter.families import Level
from cli.verbs.exporter.guard import Guard, guarded
from cli.verbs.exporter.options import DEFAULT_LISTEN, ExporterOptions
from cli.verbs.exporter.page import Limits
from cli.verbs.exporter.reading import LagTimes, Scope, read_groups
from cli.verbs.exporter.web import METRICS, ExporterPages
from coordinator.server.listener import CannotListen
from coordinator.server.web import WebServer
from groups.counts import counted
from groups.files import replace_file
from groups.listing import Problem
from wire.client.address import Address

SHOWN_PROBLEMS = 5
LEAST_INTERVAL_MS, MOST_INTERVAL_MS = 1_000, 86_400_000


def export(options: ExporterOptions, source: SourceOptions) -> ExitStatus:
    """Poll, and serve or write the metrics, until SIGTERM or Ctrl-C, or once.

    UNREADABLE if `--once` could not read something.
    """
    guard = _guard(options)
    textfile = _textfile(options)
    interval_ms = _interval_ms(options.interval)
    scope = Scope(
        commit_times=options.commit_times or not is_live(source),
        is_live=is_live(source),
        groups=None if options.match is None else name_filter(options.match),
        topics=None if options.match_topic is None else name_filter(options.match_topic, "--match-topic"),
    )
    limits = Limits(per=Level(options.per.value), max_series=options.max_series)
    cache = FigureCache(limits, interval_ms)
    with ExitStack() as stack:
        opened = stack.enter_context(ReusableSource(source))
        poller = _Poller(opened, scope, cache)
        if options.once:
            poller.poll()
            if textfile is None:
                write_out(lambda out: out.write(_text(cache)))
            else:
                _write(textfile, cache)
            return ExitStatus.UNREADABLE if cache.state.problems else ExitStatus.DONE
        stack.enter_context(_ended_by_sigterm())
        if guard is not None:
            stack.enter_context(_serving(guard, cache))
        with suppress(KeyboardInterrupt):
            _run(poller, interval_ms / 1000, guard, textfile)
    notice("stopped")
    return ExitStatus.DONE


def _run(poller: _Poller, interval_s: float, guard: Guard | None, textfile: Path | None) -> NoReturn:
    """Poll at a fixed interval between starts."""
    unwritten = ""
    while True:
        started = time.monotonic()
        poller.poll_or_wait()
        if textfile is not None:
            before, unwritten = unwritten, ""
            try:
                _write(textfile, poller.cache)
            except CommandError as error:
                unwritten = str(error)
                if unwritten != before:
                    notice(unwritten)
        if guard is not None:
            guard.renew(notice)
        time.sleep(max(0.0, started + interval_s - time.monotonic()))


class _Poller:
    """Reads the groups, and prints new problems on standard error."""

    def __init__(self, opened: ReusableSource, scope: Scope, cache: FigureCache) -> None:
        self.cache = cache
        self._opened, self._scope = opened, scope
        self._times = LagTimes()
        self._groups: frozenset[str] | None = None
        self._reported: frozenset[str] = frozenset()

    def poll(self) -> None:
        """Poll once. :raises WireError: :raises CommandError: nothing can be read"""
        started = time.monotonic()
        with _without_collector():
            reading = read_groups(
                self._opened.get(), self._scope, self._groups or frozenset(), self._times, now_ms
            )
            self.cache.put(reading, started)
        self._opened.print_notices()
        self._groups = frozenset(reading.groups)
        self._report_new([_line(each) for each in reading.problems])

    def poll_or_wait(self) -> None:
        """Poll; a cluster that does not answer is polled again at the next interval.

        :raises WireError: :raises CommandError: a permanent error at the first poll
        """
        try:
            self.poll()
        except Exception as error:
            if not is_expected(error) or (self._groups is None and not self._opened.may_pass(error)):
                raise
            self._opened.close()
            self.cache.fail()
            self._report_new([f"{str(error).rstrip('.')}; the next poll tries again"])

    def _report_new(self, lines: Sequence[str]) -> None:
        """Print lines that were not printed at the previous poll."""
        new = [line for line in dict.fromkeys(lines) if line not in self._reported]
        for line in new[:SHOWN_PROBLEMS]:
            notice(line)
        if len(new) > SHOWN_PROBLEMS:
            notice(f"and {counted(len(new) - SHOWN_PROBLEMS, 'problem')} more")
        if self._reported and not lines:
            notice("everything can be read again")
        self._reported = frozenset(lines)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Disable the cycle collector: a poll creates hundreds of thousands of objects without cycles, and searching for
    cycles would take a third of its time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _line(problem: Problem) -> str:
    return f"{problem.subject}: {problem.message}"


def _guard(options: ExporterOptions) -> Guard | None:
    """The listen address and the logins; None if the exporter does not listen."""
    wants_page = options.listen is not None or (options.textfile is None and not options.once)
    if options.once and options.listen is not None:
        raise UsageError("--once and --listen cannot be used together")
    guarding = {
        "--tls-certificate": options.tls_certificate,
        "--tls-key": options.tls_key,
        "--tls-client-ca": options.tls_client_ca,
        "--access": options.access,
        "--token-file": options.token_file,
    }
    if not wants_page:
        for name, value in guarding.items():
            if value is not None:
                raise UsageError(f"{name} needs --listen HOST:PORT")
        return None
    return guarded(options, DEFAULT_LISTEN if options.listen is None else options.listen)


def _interval_ms(text: str) -> int:
    interval_ms = milliseconds(text, "--interval")
    if not LEAST_INTERVAL_MS <= interval_ms <= MOST_INTERVAL_MS:
        raise UsageError(f"--interval {text}: polls are at least a second and at most a day apart")
    return interval_ms


def _textfile(options: ExporterOptions) -> Path | None:
    """The file to write, checked as far as possible before the first poll."""
    file = options.textfile
    if file is None:
        return None
    if file.suffix != ".prom":
        raise UsageError(f"--textfile {file}: the node exporter reads files that end in .prom only")
    if not file.parent.is_dir():
        raise UsageError(f"--textfile {file}: {file.parent} is not a directory")
    return file


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """SIGTERM acts like Ctrl-C: a poll may wait half a minute, and a service manager kills the process before."""
    former = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)


@contextmanager
def _serving(guard: Guard, cache: FigureCache) -> Iterator[None]:
    """Answer scrapes in threads. :raises CannotListen:"""
    place = guard.place
    try:
        pages = ExporterPages(cache=cache, login=guard.login, report=notice)
        server = WebServer(place.host, place.port, pages.page, notice, lambda: guard.tls)
    except OSError as error:
        raise CannotListen(Address(place.host, place.port), error) from None
    with server:
        at = Address(place.host, server.server_port)
        scheme = "http" if guard.tls is None else "https"
        write_out(lambda out: out.write(f"Serving metrics on {scheme}://{at}{METRICS}\n"))
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


def _text(cache: FigureCache, *, process: bool = True) -> str:
    return b"".join(cache.exposition(process=process).pieces).decode()


def _write(file: Path, cache: FigureCache) -> None:
    """Replace the file atomically, without metrics of this process: the node exporter has metrics of the same names.

    :raises CommandError: it cannot be written
    """
    try:
        replace_file(file, [_text(cache, process=False)], mode=0o644)
    except OSError as error:
        raise CommandError(f"{file}: cannot be written: {error.strerror or error}") from None
