"""What happened, in words: the reasons of rebalances, each once with its members and a count. A departure that is not
proven by the records is named as either: it left, or lost its session."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from groups.counts import counted, first_names
from groups.history.account import Explained
from groups.history.causes import RebalanceCause
from groups.history.events import Protocol
from groups.history.processes import MemberChange, PastProcess
from groups.times import duration_text

_ALIKE_AT_MOST = 2  # members that did the same this often share a phrase
_FOLLOWS = "partitions that members had revoked were assigned"
_RETURNED, _RESTARTED = "returned", "restarted before the former session ended"
_VERBS = {RebalanceCause.EXPIRY: "lost {its} session", RebalanceCause.LEAVE: "left"}


@dataclass(slots=True)
class ProcessStory:
    """What one process did in some rebalances."""

    process: PastProcess
    changes: list[MemberChange] = field(default_factory=list)
    rebalances: int = 0

    @property
    def departures(self) -> list[MemberChange]:
        return [change for change in self.changes if change.departure is not None]

    @property
    def returns(self) -> list[MemberChange]:
        return [change for change in self.changes if change.is_return]

    @property
    def causes(self) -> frozenset[RebalanceCause]:
        """Of its departures: leave, expiry, unknown."""
        return frozenset(change.cause for change in self.departures if change.cause is not None)

    @property
    def keeps_ids(self) -> bool:
        """Whether only a new process has a new member id: in the consumer protocol. A classic member gets a new one
        each time it joins; in a group of either type, it alone has a session timeout in the records."""
        return all(
            gone.departure is not None
            and gone.departure.protocol is Protocol.CONSUMER
            and gone.record.session_timeout_ms is None
            for gone in self.departures
        )

    @property
    def still_ran(self) -> bool:
        """Whether it returned with the member id that it had, so that its process had not ended."""
        again = any(change.other == change.record.member for change in self.returns)
        return again and bool(self.departures) and self.keeps_ids

    @property
    def crashed(self) -> bool:
        """Whether other processes returned than those whose sessions expired, which therefore probably crashed."""
        closed = any(gone.departure is not None and gone.departure.away for gone in self.departures)
        return (
            self.causes == {RebalanceCause.EXPIRY}
            and self.keeps_ids
            and bool(self.returns)
            and not self.still_ran
            and not closed
        )

    @property
    def actions(self) -> dict[str, int]:
        """What it did and how often, in the order in which it did each first."""
        return Counter(map(self._verb, self.changes))

    def _verb(self, change: MemberChange) -> str:
        if change.cause is None:
            return (
                "joined" if not change.is_return else _RETURNED if change.away_us is not None else _RESTARTED
            )
        if self.crashed:
            return "probably crashed"
        if RebalanceCause.UNKNOWN not in self.causes:
            return _VERBS[change.cause]
        (likely, *others) = self._likely
        return (
            f"probably {_VERBS[likely]}" if not others and likely in _VERBS else "left or lost {its} session"
        )

    @property
    def _likely(self) -> frozenset[RebalanceCause]:
        """Of departures of which some are not proven: what is proven or more likely of each."""
        verdicts = (change.verdict for change in self.departures)
        return frozenset(
            RebalanceCause.UNKNOWN if one is None else one.probably or one.cause for one in verdicts
        )

    @property
    def is_gone(self) -> bool:
        """Whether the last that is known of it is a departure."""
        return self.changes[-1].departure is not None and self.changes[-1].other is None


def stories_of(explained: Sequence[Explained]) -> list[ProcessStory]:
    """The stories of all processes that joined or departed, those of most rebalances first."""
    stories: dict[tuple[str, ...], ProcessStory] = {}
    for one in explained:
        keys = set()
        for change in one.changes:
            story = stories.setdefault(change.process.key, ProcessStory(change.process))
            story.process = change.process
            story.changes.append(change)
            keys.add(change.process.key)
        for key in keys:
            stories[key].rebalances += 1
    return sorted(stories.values(), key=lambda story: -story.rebalances)


def reasons(explained: Sequence[Explained]) -> list[str]:
    """Why a group rebalanced, a phrase per reason, the most frequent first: `worker-7 on 10.0.3.8 left and returned
    7 times`."""
    alike: dict[tuple[object, ...], list[ProcessStory]] = {}
    for story in stories_of(explained):
        actions = story.actions
        own = story.process.key if max(actions.values()) > _ALIKE_AT_MOST else ()
        alike.setdefault((*actions.items(), own), []).append(story)
    weighed = [
        (sum(story.rebalances for story in stories), _phrase(stories, explained))
        for stories in alike.values()
    ]
    others = Counter(_other_reasons(explained))
    if len(others) + len(weighed) > 1:
        others.pop(_FOLLOWS, None)
    weighed += ((count, phrase) for phrase, count in others.items())
    return [phrase for _, phrase in sorted(weighed, key=lambda pair: -pair[0])]


def _phrase(stories: Sequence[ProcessStory], explained: Sequence[Explained]) -> str:
    first, several = stories[0], len(stories) > 1
    names = [story.process.name for story in stories]
    who = f"{counted(len(names), 'member')} ({first_names(names)})" if several else names[0]
    sequence = ", one after another" if len(stories) >= 3 <= len(explained) and len(first.actions) > 1 else ""
    phrase = _actions_text(first.actions)
    away_us = first.changes[-1].away_us
    if not several and phrase == _RETURNED and away_us:
        phrase += f" after {duration_text(away_us / 1000)}"
    return f"{who} {_with_possessive(phrase, several=several)}{sequence}"


def _with_possessive(phrase: str, *, several: bool) -> str:
    return phrase.replace("{its} session", "their sessions" if several else "its session")


def _actions_text(actions: Mapping[str, int]) -> str:
    """`left and returned 7 times`, `joined, left twice and returned`; actions in a row that were as frequent share
    their number."""
    runs = [([verb for verb, _ in run], count) for count, run in groupby(actions.items(), key=itemgetter(1))]
    if all(len(verbs) == 1 for verbs, _ in runs):
        return _listed([f"{verb}{_times(count)}" for (verb,), count in runs])
    return ", then ".join(f"{_listed(verbs)}{_times(count)}" for verbs, count in runs)


def _listed(texts: Sequence[str]) -> str:
    *others, last = texts
    return f"{', '.join(others)} and {last}" if others else last


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
                case RebalanceCause.UNKNOWN if not rebalance.members and not rebalance.members_before:
                    yield "the group was empty"
                case RebalanceCause.UNKNOWN if not rebalance.left:
                    is_whole = rebalance.protocol is Protocol.CLASSIC and rebalance.skipped == 0
                    yield (
                        "members rejoined without a change" if is_whole else "the cause is not in the records"
                    )
                case _ if not one.changes:
                    yield _FOLLOWS
