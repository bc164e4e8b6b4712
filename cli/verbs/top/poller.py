"""The one poller behind all screens: a thread that reads the list and what is on screen, and rests in between."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from cli.errors import is_expected
from cli.polls.reading import LagTimes, Scope, read_chosen
from cli.selection import ReusableSource
from cli.sources.source import Source
from cli.verbs.top.choice import GroupChoice
from cli.verbs.top.sight import Focus, Sight, due
from cli.verbs.watch.repeat import pause_s

FIRST = 40  # Groups of the first poll: a screenful
MOST = 200  # Groups of a poll, while some have never been read
SHARE = 0.04  # Of the time that polls may take: the rest is pause
LISTED_EVERY_S = 5.0
PAST_S = 3600.0  # A moment of the past is read once


class Poller:
    """`show` gets each new sight, in the poller's thread. Raises nothing: what fails is in the sight."""

    def __init__(
        self,
        opened: ReusableSource,
        every_s: float,
        show: Callable[[Sight], None],
        now_ms: Callable[[], int],
        choice: GroupChoice,
    ) -> None:
        self._choice = choice
        self._opened, self._every_s, self._show, self._now_ms = opened, every_s, show, now_ms
        self._sight = Sight(source=opened.name)
        self._focus = Focus()
        self._wake = threading.Event()
        self._times = LagTimes()
        self._past: Source | None = None
        self._ends = self.is_paused = False
        self._listed_s = 0.0
        self._failures = 0
        self._thread = threading.Thread(target=self._run, name="top's poller", daemon=True)

    @property
    def sight(self) -> Sight:
        return self._sight

    def look_at(self, past: Source | None, at_ms: int | None) -> None:
        """Show a moment of the past, read once from `past`; None: the present again."""
        self._past = past
        self._sight = Sight(source=self._opened.name, past_ms=at_ms)
        self._failures = 0
        self.refresh()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ends = True
        self._wake.set()
        self._thread.join(timeout=2.0)

    def focus(self, focus: Focus) -> None:
        """Read this first. Another group on screen is read at once."""
        is_other = focus.opened != self._focus.opened
        self._focus = focus
        if is_other:
            self._wake.set()

    def refresh(self) -> None:
        self._listed_s = 0.0
        self._wake.set()

    def _run(self) -> None:
        while not self._ends:
            began_s = time.monotonic()
            self._wake.clear()
            if not self.is_paused or not self._listed_s:
                self._poll()
            self._wake.wait(self._rest_s(time.monotonic() - began_s))

    def _rest_s(self, took_s: float) -> float:
        """Polls take a small share of the time; what is on screen is read every `--every` if that is more seldom."""
        if self._past is not None and len(self._sight.groups) >= len(self._sight.listings):
            return PAST_S
        if self._failures:
            return pause_s(self._every_s, self._failures)
        unread = len(self._sight.listings) - len(self._sight.groups)
        if unread > 0 and self._focus.opened is None:
            return min(took_s, self._every_s)  # Half of the time, until each group was read once
        return max(self._every_s - took_s, took_s * (1 / SHARE - 1) if self._focus.opened is None else took_s)

    def _poll(self) -> None:
        try:
            past = self._past
            source = self._opened.get() if past is None else past
            if time.monotonic() - self._listed_s >= LISTED_EVERY_S:
                self._list(source)
            names = due(self._sight, self._focus, MOST if self._sight.groups else FIRST)
            if names:
                self._read(source, names)
            self._failures = 0
        except Exception as error:
            if not is_expected(error):
                raise
            self._opened.close()
            self._failures += 1
            self._replace(self._sight.failed(str(error), self._now_ms()))

    def _list(self, source: Source) -> None:
        if self._sight.cluster is None:
            self._sight = replace(self._sight, cluster=source.cluster(), source=source.name)
        listed = self._choice.read(source)
        self._listed_s = time.monotonic()
        self._replace(self._sight.listed(listed.items, self._now_ms(), listed.problems))

    def _read(self, source: Source, names: Sequence[str]) -> None:
        opened, asked_ms = self._focus.opened, self._now_ms()
        scope = Scope(is_live=self._opened.is_live, commit_times=not self._opened.is_live)
        result = read_chosen(source, scope, names, self._times, self._now_ms)
        self._replace(self._sight.read(result, opened if opened in names else None, asked_ms))

    def _replace(self, sight: Sight) -> None:
        self._sight = sight
        self._show(sight)
