"""The sentence that answers why: how often a group rebalanced and when, what its members did, and what was not read."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

from groups.counts import counted
from groups.history.account import Account, Explained
from groups.history.events import Place
from groups.history.pauses import ReadingPause
from groups.history.stories import reasons
from groups.history.storms import begin_of
from groups.times import EPOCH, duration_text

_MOST_REASONS = 3
_NOTICEABLE_US = 1_000_000


def headline(account: Account) -> str:
    """The headline, without a period: `payments rebalanced 14 times between 03:02 and 03:09 UTC on …: worker-7 on
    10.0.3.8 probably crashed and returned 7 times; 12 partitions were not read for 41 s to 2 min 10 s`."""
    explained = account.rebalances
    if not explained:
        return _quiet(account)
    main = main_part(account)
    begin, end = _begin(main), max(_end(one) for one in main)
    when = span_text(begin, end)
    if len(main) < len(explained):
        often = f"{_often(len(explained))}, {len(main):,} of them {when}"
    else:
        often = f"{_often(len(explained))} {when}"
    phrases = reasons(main)
    others = len(phrases) - _MOST_REASONS
    more = f"; {counted(others, 'more reason')}" if others > 0 else ""
    return f"{account.group} rebalanced {often}: {'; '.join(phrases[:_MOST_REASONS])}{more}; {_cost(account, main)}"


def span_text(begin: int, end: int) -> str:
    """`between 03:02 and 03:09 UTC on 2026-11-28`, to the second if it is short; a moment: `at 03:02:11 UTC on …`."""
    first, last = _moment(begin), _moment(end)
    if last - first < timedelta(seconds=1):
        return f"at {first:%H:%M:%S} UTC on {first:%Y-%m-%d}"
    if first.date() != last.date():
        return f"between {first:%Y-%m-%d %H:%M} and {last:%Y-%m-%d %H:%M} UTC"
    clock = "%H:%M" if last - first >= timedelta(minutes=2) else "%H:%M:%S"
    return f"between {first:{clock}} and {last:{clock}} UTC on {first:%Y-%m-%d}"


def _moment(time: int) -> datetime:
    return EPOCH + timedelta(microseconds=time)


def _quiet(account: Account) -> str:
    owned = [
        span
        for span in account.holdings
        if span.member is not None and (span.until is None or span.until > account.until)
    ]
    text = f"{account.group} did not rebalance {span_text(account.since, account.until)}"
    before = [one for one in account.course.rebalances if begin_of(one) <= account.until]
    if before and not before[-1].members:
        return f"{text}; it had no members"
    if not owned:
        return f"{text}; the records show no owner of a partition"
    members = len({span.member for span in owned})
    changed = max(span.since for span in owned)
    return (
        f"{text}; {counted(members, 'member')} {'owns' if members == 1 else 'own'} "
        f"{counted(len(owned), 'partition')}, unchanged since {_moment(changed):%Y-%m-%d %H:%M} UTC or longer"
    )


def main_part(account: Account) -> Sequence[Explained]:
    """The largest episode with departures if it has at least half of the rebalances, else all."""
    largest = max(filter(account.has_departures, account.episodes), key=len, default=range(0))
    if 2 * len(largest) >= len(account.rebalances):
        return [account.rebalances[index] for index in largest]
    return account.rebalances


def _often(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def _begin(explained: Sequence[Explained]) -> int:
    return min(begin_of(one.rebalance) for one in explained)


def _end(one: Explained) -> int:
    return one.rebalance.end or begin_of(one.rebalance)


def _cost(account: Account, explained: Sequence[Explained]) -> str:
    pauses = dict.fromkeys(pause for one in explained for pause in one.pauses)
    empty_since = account.empty_since
    if empty_since is not None:
        ended = [pause for pause in pauses if pause.until is not None]
        before = f"{unread_text(ended)}; " if ended else ""
        return f"{before}it has had no members since {_moment(empty_since):%H:%M:%S} UTC"
    if pauses:
        return unread_text(pauses)
    begin = _begin(explained)
    vacant: dict[Place, int] = {}
    parts = []
    for span in account.holdings:
        if span.member is None and (span.until or account.until) >= begin:
            length = (span.until or account.until) - span.since
            vacant[span.place] = vacant.get(span.place, 0) + length
            parts.append(span)
    if any(length >= _NOTICEABLE_US for length in vacant.values()):
        return (
            f"{_partitions(list(vacant))} had no owner for {_range(vacant.values())}{_in_all(vacant, parts)}"
        )
    if not account.course.commits.places:
        return "the group committed nothing, so what was not read is not known"
    return "no partition was left unread for longer than usual"


def unread_text(pauses: Collection[ReadingPause]) -> str:
    """`12 partitions were not read for 41 s to 2 min 10 s`; those that were not read until the end come
    after. The gaps of a partition are added: `in all`."""
    ended = [pause for pause in pauses if pause.until is not None]
    opened = {pause.place: pause.since for pause in pauses if pause.until is None}
    lengths = _lengths(ended)
    texts = []
    if lengths:
        were = "was" if len(lengths) == 1 else "were"
        how_long = f"{_range(lengths.values())}{_in_all(lengths, ended)}"
        texts.append(f"{_partitions(list(lengths))} {were} not read for {how_long}")
    if opened:
        have = "has" if len(opened) == 1 else "have"
        since = _moment(min(opened.values()))
        texts.append(f"{_partitions(list(opened))} {have} not been read since {since:%H:%M:%S} UTC")
    return "; ".join(texts)


def unread_range(pauses: Collection[ReadingPause]) -> str:
    """`12 partitions, 41 s to 2 min 10 s; orders-3 since 03:09:12Z`: the last one was not read until the end."""
    ended = [pause for pause in pauses if pause.until is not None]
    opened = {pause.place: pause.since for pause in pauses if pause.until is None}
    lengths = _lengths(ended)
    texts = []
    if lengths:
        texts.append(f"{_partitions(list(lengths))}, {_range(lengths.values())}{_in_all(lengths, ended)}")
    if opened:
        texts.append(f"{_partitions(list(opened))} since {_moment(min(opened.values())):%H:%M:%SZ}")
    return "; ".join(texts)


def _lengths(ended: Iterable[ReadingPause]) -> dict[Place, int]:
    lengths: dict[Place, int] = {}
    for pause in ended:
        lengths[pause.place] = lengths.get(pause.place, 0) + (pause.until or pause.since) - pause.since
    return lengths


def _in_all(lengths: Collection[Place], parts: Collection[object]) -> str:
    """Words for lengths of partitions that are sums."""
    return " in all" if len(lengths) < len(parts) else ""


def _partitions(places: Sequence[Place]) -> str:
    if len(places) == 1:
        topic, number = places[0]
        return f"{topic}-{number}"
    return counted(len(places), "partition")


def _range(lengths: Collection[int]) -> str:
    least, most = duration_text(min(lengths) / 1000), duration_text(max(lengths) / 1000)
    return least if least == most else f"{least} to {most}"
