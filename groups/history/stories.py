"""What happened, in words: the reasons of rebalances, each once with its members and a count. A departure that is not
proven by the records is named as either: it left, or lost its session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from groups.counts import counted, first_names
from groups.history.account import Explained
from groups.history.causes import RebalanceCause
from groups.history.events import Protocol
from groups.history.processes import Change, Process
from groups.times import duration_text

_ALIKE_AT_MOST = 2  # members that did the same this often share a phrase


_VERBS = {RebalanceCause.EXPIRY: "lost {its} session", RebalanceCause.LEAVE: "left"}


@dataclass(slots=True)
class Story:
    """What one process did in some rebalances."""

    process: Process
    departures: list[Change] = field(default_factory=list)
    returns: list[Change] = field(default_factory=list)
    joins: list[Change] = field(default_factory=list)
    last: Change | None = None
    rebalances: int = 0
    protocol: Protocol = Protocol.CLASSIC

    @property
    def causes(self) -> frozenset[RebalanceCause]:
        """Of its departures: leave, expiry, unknown."""
        return frozenset(change.cause for change in self.departures if change.cause is not None)

    @property
    def kept_its_id(self) -> bool:
        """Whether it returned with the member id that it had: a process of the consumer protocol still ran."""
        return any(change.other == change.record.member for change in self.returns)

    @property
    def crashed(self) -> bool:
        """Whether processes ended without leaving: in the consumer protocol only a new process has a new id."""
        return (
            self.protocol is Protocol.CONSUMER
            and self.causes == {RebalanceCause.EXPIRY}
            and bool(self.returns)
            and not self.kept_its_id
        )

    @property
    def verb(self) -> str:
        """What is proven of all its departures, or probable."""
        if not self.departures:
            return ""
        if self.crashed:
            return "crashed"
        for form, causes in (("{}", self.causes), ("probably {}", self._likely)):
            (cause, *others) = causes
            if not others and cause in _VERBS:
                return form.format(_VERBS[cause])
        return "left or lost {its} session"

    @property
    def _likely(self) -> frozenset[RebalanceCause]:
        verdicts = (change.verdict for change in self.departures)
        return frozenset(
            RebalanceCause.UNKNOWN if one is None else one.probably or one.cause for one in verdicts
        )

    @property
    def changes(self) -> list[Change]:
        return [*self.departures, *self.returns, *self.joins]

    @property
    def is_gone(self) -> bool:
        """Whether the last that is known of it is a departure."""
        return self.last is not None and self.last.departure is not None and self.last.other is None


def stories_of(explained: Sequence[Explained]) -> list[Story]:
    """The stories of all processes that joined or departed, those of most rebalances first."""
    stories: dict[tuple[str, ...], Story] = {}
    for one in explained:
        keys = set()
        for change in one.changes:
            story = stories.setdefault(change.process.key, Story(change.process))
            story.process, story.protocol = change.process, one.rebalance.protocol
            if change.departure is not None:
                story.departures.append(change)
            elif change.is_return:
                story.returns.append(change)
            else:
                story.joins.append(change)
            story.last = change
            keys.add(change.process.key)
        for key in keys:
            stories[key].rebalances += 1
    return sorted(stories.values(), key=lambda story: -story.rebalances)


def reasons(explained: Sequence[Explained]) -> list[str]:
    """Why a group rebalanced, a phrase per reason, the most frequent first: `worker-7 on 10.0.3.8 left and returned
    7 times`."""
    alike: dict[tuple[object, ...], list[Story]] = {}
    for story in stories_of(explained):
        counts = len(story.departures), len(story.returns), len(story.joins)
        own = story.process.key if max(counts) > _ALIKE_AT_MOST else ()
        alike.setdefault((story.verb, *counts, story.is_gone, own), []).append(story)
    weighed = [
        (sum(story.rebalances for story in stories), _phrase(stories, explained))
        for stories in alike.values()
    ]
    weighed += ((count, phrase) for phrase, count in Counter(_other_reasons(explained)).items())
    return [phrase for _, phrase in sorted(weighed, key=lambda pair: -pair[0])]


def _phrase(stories: Sequence[Story], explained: Sequence[Explained]) -> str:
    first, several = stories[0], len(stories) > 1
    names = [story.process.name for story in stories]
    who = f"{counted(len(names), 'member')} ({first_names(names)})" if several else names[0]
    gone, back = len(first.departures), len(first.returns)
    verb = first.verb.format(its="their" if several else "its").replace("session", "session" + "s" * several)
    sequence = ", one after another" if len(stories) >= 3 <= len(explained) and gone and back else ""
    if not gone and not back:
        return f"{who} joined{_times(len(first.joins))}"
    if not gone:
        return f"{who} {_returned(first, several=several)}{_times(back)}"
    if not back:
        came = "joined and " if first.joins and first.is_gone else ""
        return f"{who} {came}{verb}{_times(gone)}{sequence}"
    if gone == back:
        both = f"returned and {verb}" if first.is_gone else f"{verb} and returned"
        return f"{who} {both}{_times(gone)}{sequence}"
    return f"{who} {verb} {_times(gone) or ' once'} and returned{_times(back) or ' once'}".replace("  ", " ")


def _returned(story: Story, *, several: bool) -> str:
    last = story.returns[-1]
    if last.away_us is None:
        return "restarted before the former session ended"
    after = duration_text(last.away_us / 1000)
    return "returned" if several or len(story.returns) > 1 or not last.away_us else f"returned after {after}"


def _times(count: int) -> str:
    return {0: "", 1: "", 2: " twice"}.get(count, f" {count:,} times")


def _other_reasons(explained: Sequence[Explained]) -> Iterator[str]:
    """Reasons other than members that joined or departed; a rebalance that only assigns what the one
    before revoked has the causes of that one."""
    for one in explained:
        rebalance, before = one.rebalance, one.before
        for cause in rebalance.causes:
            match cause:
                case RebalanceCause.CONVERSION:
                    yield f"the group was converted to the {rebalance.protocol.value} protocol"
                case RebalanceCause.ASSIGNOR:
                    old = None if before is None else before.assignor
                    change = f" from {old} to {rebalance.assignor}" if old and rebalance.assignor else ""
                    yield f"the assignor changed{change}"
                case RebalanceCause.SUBSCRIPTION:
                    yield "a subscription changed"
                case RebalanceCause.METADATA:
                    counts = (before and before.partitions, rebalance.partitions)
                    change = f" from {counts[0]} to {counts[1]}" if counts[0] not in (None, counts[1]) else ""
                    yield f"the partitions of its topics changed{change}"
                case RebalanceCause.UNKNOWN if not rebalance.left:
                    yield "the cause is not in the records"
                case _ if not one.changes:
                    yield "partitions that members had revoked were assigned"
