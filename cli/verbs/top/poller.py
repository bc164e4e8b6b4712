"""The poller of all screens: a thread that reads the list and what is on screen, with pauses."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from cli.errors import is_expected
from cli.polls.reading import LagTimes, PollResult, Scope, read_chosen
from cli.selection import ReusableSource
from cli.sources.source import Source
from cli.verbs.top.choice import GroupsToShow
from cli.verbs.top.moments import PastMoment
from cli.verbs.top.sight import Focus, Recent, Sight, in_turn, is_old
from cli.verbs.watch.repeat import pause_s
from groups.model import GroupState, GroupType

FIRST = 40  # Groups of the first poll: a screenful
MOST = 200  # Groups of a poll
SHARE = 0.04  # Of the time that polls may take: the rest is pause
LISTED_EVERY_S = 5.0
LONGEST_DELAY_S = 0.5  # Of a poll that a key asks for, after one that took long
PAST_S = 3600.0  # A moment of the past is read once


@dataclass(slots=True, kw_only=True, eq=False)
class _Subject:
    """What is looked at, the present or a moment of the past, and how far it has been read."""

    sight: Sight
    past: PastMoment | None = None
    source: Source | None = None  # That was read last; of a file that has changed it is another
    fresh: set[str] = field(default_factory=set)  # Groups that it was asked for
    asked: int = (
        1  # How often all that is on screen was asked for, as by a key, and how often it was answered
    )
    answered: int = 0
    listed_s: float = 0.0  # When the list was read, by time.monotonic, and how long that took
    listing_s: float = 0.0
    failures: int = 0

    @property
    def is_asked(self) -> bool:
        return self.asked != self.answered


class Poller:
    """`show` gets each new sight, mostly in the poller's thread. Raises nothing: `error` is why it failed last, also in
    the sight; one that is not expected ends the thread."""

    def __init__(
        self,
        opened: ReusableSource,
        every_s: float,
        show: Callable[[Sight], None],
        now_ms: Callable[[], int],
        choice: GroupsToShow,
        as_of_ms: int | None = None,
    ) -> None:
        """`as_of_ms`: the moment that the source shows, if that is not the present."""
        self._choice = choice
        self._opened, self._every_s, self._show, self._now_ms = opened, every_s, show, now_ms
        self._present = self._subject = _Subject(sight=Sight(source=opened.name, past_ms=as_of_ms))
        self._focus, self._recent = Focus(), Recent()
        self._wake = threading.Event()
        self._times = LagTimes()
        self._leader: tuple[tuple[str, frozenset[str]], str | None, str | None] | None = None
        """Of the last group: its members, its leader, or why that is not known."""
        self._ends = self.is_paused = False
        self.error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="top's poller", daemon=True)

    @property
    def sight(self) -> Sight:
        return self._subject.sight

    def look_at(self, past: PastMoment | None) -> None:
        """Show a moment of the past; None: the present again, with all that was known of it."""
        if past is None:
            self._subject = self._present
        else:
            sight = Sight(source=past.source.name, past_ms=past.at_ms, recent=past.recent)
            self._subject = _Subject(sight=sight, past=past)
        self._show(self._subject.sight)
        self._wake.set()
        self.start()

    def start(self) -> None:
        if not self._thread.is_alive() and not self._ends:
            self._thread.start()

    def stop(self) -> None:
        """End it; a reading that takes long is left to itself."""
        self._ends = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=LONGEST_DELAY_S)

    def focus(self, focus: Focus) -> None:
        """Read this first, and at once if it was never read."""
        before, self._focus = self._focus, focus
        if focus.opened is not None and focus.opened != self.sight.log_of:
            self._subject.fresh.discard(focus.opened)  # Its events are not known yet
        is_other = focus.visible != before.visible and not self._subject.fresh.issuperset(focus.visible)
        if focus.opened != before.opened or is_other:
            self._wake.set()

    def refresh(self) -> None:
        """Read the list, the cluster's facts and what is on screen now, also while it is paused."""
        self._subject.asked += 1
        self._choice.forget()
        self._wake.set()

    def know(self, recent: Recent) -> None:
        """Add to what is known of the present what was read elsewhere."""
        self._recent = recent
        self._wake.set()

    def _run(self) -> None:
        try:
            while not self._ends:
                self._wake.clear()
                subject, began_s = self._subject, time.monotonic()
                self._poll(subject)
                took_s = time.monotonic() - began_s
                if self._wake.wait(self._rest_s(subject, took_s)):
                    time.sleep(min(max(took_s, 0.02), LONGEST_DELAY_S))
        except Exception as error:
            self.error = error
            self._replace(
                self._subject, self._subject.sight.failed(str(error) or type(error).__name__, self._now_ms())
            )
        finally:
            self._opened.close()

    def _rest_s(self, subject: _Subject, took_s: float) -> float:
        """Polls take a small share of the time; what is on screen is read every `--every` if that is more seldom."""
        if subject.failures:
            return pause_s(self._every_s, subject.failures)
        if self._is_still(subject) and self._due(subject, FIRST):
            return 0.0
        if subject.past is not None:
            return PAST_S
        is_list = self._focus.opened is None
        is_complete = subject.fresh.issuperset(subject.sight.listings)
        if is_list and self._focus.others and not self.is_paused and not is_complete:
            return min(took_s, self._every_s)  # Half of the time, until each group was asked for once
        return max(self._every_s - took_s, took_s * (1 / SHARE - 1) if is_list else took_s)

    def _is_still(self, subject: _Subject) -> bool:
        """Whether another reading of the same source would show the same."""
        return subject.past is not None or not self._opened.is_live

    def _poll(self, subject: _Subject) -> None:
        if subject is self._present and self._recent is not subject.sight.recent:
            self._replace(subject, replace(subject.sight, recent=self._recent))
        if self.is_paused and not subject.is_asked and not self._due(subject, FIRST):
            return
        asked = subject.asked
        try:
            source = self._opened.get() if subject.past is None else subject.past.source
            if source is not subject.source:
                source.is_followed = True
                subject.source = source
                subject.fresh.clear()
                subject.answered -= 1
            if self._is_list_due(subject):
                self._list(subject, source)
            names = self._due(subject, MOST if subject.sight.groups else FIRST)
            if names:
                self._read(subject, source, names)
            if subject.is_asked or subject.sight.cluster is None:
                self._replace(subject, replace(subject.sight, cluster=source.cluster()))
            subject.failures, subject.answered = 0, asked
            if subject.sight.failure:
                self._replace(subject, replace(subject.sight, failure="", failing_ms=None))
        except Exception as error:
            if not is_expected(error):
                raise
            if subject.past is None:
                self._opened.close()
            subject.source, self.error = None, error
            subject.failures += 1
            self._replace(subject, subject.sight.failed(str(error) or type(error).__name__, self._now_ms()))

    def _is_list_due(self, subject: _Subject) -> bool:
        if subject.is_asked or self._is_still(subject) or self.is_paused:
            return subject.is_asked
        pause_s = max(LISTED_EVERY_S, self._every_s, subject.listing_s / SHARE)
        return time.monotonic() - subject.listed_s >= pause_s

    def _due(self, subject: _Subject, most: int) -> list[str]:
        """The groups to read next. While it is paused, and of what does not change, each is read once."""
        first, others = in_turn(subject.sight, self._focus)
        known = subject.sight.groups
        if self._is_still(subject):
            names = [name for name in (*first, *others) if name not in subject.fresh]
        elif self.is_paused and not subject.is_asked:
            names = [name for name in first if name not in known and name in subject.sight.listings]
        else:
            now_ms = self._now_ms()
            names = [*first, *(name for name in others if is_old(subject.sight, name, now_ms))]
        return names[: max(most, len(first))]

    def _list(self, subject: _Subject, source: Source) -> None:
        began_s = time.monotonic()
        listed = self._choice.read(source)
        subject.listed_s = time.monotonic()
        subject.listing_s = subject.listed_s - began_s
        sight = replace(subject.sight, source=source.name)
        self._replace(subject, sight.listed(listed.items, self._now_ms(), listed.problems))

    def _read(self, subject: _Subject, source: Source, names: Sequence[str]) -> None:
        opened, asked_ms, is_live = self._focus.opened, self._now_ms(), self._opened.is_live
        opened = opened if opened in names else None
        scope = Scope(is_live=is_live and subject.past is None, commit_times=not is_live)
        result = read_chosen(source, scope, names, self._times, self._now_ms)
        if opened is not None and scope.is_live and subject.sight.log_of == opened:
            result = self._with_leader(source, result, opened)
        subject.fresh.update(names)
        if subject.past is not None:
            sight = subject.sight.read_past(result, subject.past.story)
            if opened is not None:
                sight = subject.past.with_events(sight, opened)
        else:
            sight = subject.sight.read(result, opened, asked_ms, is_still=not is_live)
        self._replace(subject, sight)

    def _with_leader(self, source: Source, result: PollResult, opened: str) -> PollResult:
        """With the leader of a classic group, which only its records show: they are read once for the same members,
        and not before the group is on screen."""
        polled = result.groups.get(opened)
        group = polled.group if polled is not None else None
        if polled is None or group is None or group.type is not GroupType.CLASSIC or len(group.members) < 2:
            return result
        if group.state is not GroupState.STABLE:
            return result
        key = opened, frozenset(member.id for member in group.members)
        if self._leader is None or self._leader[0] != key:
            (led,) = source.with_leaders([group])
            self._leader = key, led.leader, led.leader_problem
        _, leader, problem = self._leader
        known = replace(polled, group=replace(group, leader=leader, leader_problem=problem))
        return replace(result, groups={**result.groups, opened: known})

    def _replace(self, subject: _Subject, sight: Sight) -> None:
        subject.sight = sight
        if subject is self._subject and not self._ends:
            self._show(sight)
