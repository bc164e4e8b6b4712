"""The sticky algorithm for members that all subscribe to the same topics.

With P partitions and n members everybody ends at the low quota P // n or, P % n of them, one above it.

In HashMap order each member keeps its partitions, the lowest numbers first (then topic names): up to the high quota
while high places are left, else up to the low one. Disputed partitions are not kept, nor are those whose racks
mismatch. The rest goes to the places that are left (`sticky_places`).

Source: AbstractStickyAssignor.ConstrainedAssignmentBuilder (Kafka 4.3.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assignors.java.sticky_claims import Settled
from assignors.java.sticky_group import StickyGroup, places
from assignors.java.sticky_holdings import Holdings, take_unassigned
from assignors.java.sticky_places import Places, hand_out
from assignors.java.sticky_racks import Racks
from assignors.model import Ints
from assignors.runs import run_starts


def assign_equal(question: StickyGroup, settled: Settled, racks: Racks | None) -> Holdings:
    """Settled claims become holdings in place.

    Raises AssignorFailedError where claims of partitions that do not exist leave Java without places.
    """
    held = Holdings(settled.owner)
    topics = question.by_name[question.takes_part[question.by_name]]
    total = int(np.diff(question.group.topic_start)[topics].sum())
    cuts = _cut_mismatches(held, racks)
    if settled.disputed is not None:
        held.owner[settled.disputed] = -1
    counts = held.counts(question.member_count)
    quotas, filled = _quotas(question, counts, total)
    if (counts > quotas).any():
        cuts += _cut_down(question, held, counts, quotas)
        counts = np.minimum(counts, quotas)
    rest = take_unassigned(question, held, topics)
    receivers = hand_out(_places(question, counts, total, filled), rest, racks)
    held.owner[rest] = receivers
    held.withheld = _changing_hands(settled, cuts, rest, receivers)
    return held


@dataclass(frozen=True, slots=True, eq=False)
class _Cut:
    """Partitions that their owners have to give up."""

    ids: Ints
    owners: Ints


def _cut_mismatches(held: Holdings, racks: Racks | None) -> list[_Cut]:
    if racks is None:
        return []
    ids = np.flatnonzero(held.owner >= 0)
    ids = ids[racks.mismatch(held.owner[ids], ids)]
    cut = _Cut(ids, held.owner[ids])
    held.owner[ids] = -1
    return [cut]


def _changing_hands(settled: Settled, cuts: list[_Cut], rest: Ints, receivers: Ints) -> Ints:
    """Partitions handed to another member than the one they were cut from, and disputed ones."""
    moving = np.zeros(len(rest), dtype=bool)
    if settled.disputed is not None:
        moving |= settled.disputed[rest]
    if cuts:
        cut_from = np.full(len(settled.owner), -1, dtype=np.int64)
        for cut in cuts:
            cut_from[cut.ids] = cut.owners
        former = cut_from[rest]
        moving |= (former >= 0) & (former != receivers)
    return rest[moving]


def _quotas(question: StickyGroup, counts: Ints, total: int) -> tuple[Ints, int]:
    """How many partitions each member may keep, and how many members keep the high quota."""
    low, above = divmod(total, question.member_count)
    quotas = np.full(question.member_count, low, dtype=np.int64)
    if not above or counts.max() <= low:
        return quotas, 0
    in_order = question.owners_order
    high = in_order[counts[in_order] > low][:above]
    quotas[high] = low + 1
    return quotas, len(high)


def _cut_down(question: StickyGroup, held: Holdings, counts: Ints, quotas: Ints) -> list[_Cut]:
    """Overloaded members give up their highest partitions: by number, then topic name."""
    ids = np.flatnonzero(held.owner >= 0)
    ids = ids[(counts > quotas)[held.owner[ids]]]
    owners = held.owner[ids]
    name_rank = places(question.by_name)
    order = _three_keys(owners, question.numbers_of(ids), name_rank[question.topics_of(ids)])
    ids, owners = ids[order], owners[order]
    starts = run_starts(owners)
    place = np.arange(len(ids)) - np.repeat(starts, np.diff(np.append(starts, len(ids))))
    gone = place >= quotas[owners]
    held.owner[ids[gone]] = -1
    return [_Cut(ids[gone], owners[gone])]


def _three_keys(first: Ints, second: Ints, third: Ints) -> Ints:
    """The order by three keys, sorted as one number where that fits."""
    low = int(second.min())
    width, depth = int(second.max()) - low + 1, int(third.max()) + 1
    if (int(first.max()) + 1) * width * depth < 2**63:
        return np.argsort((first * width + (second - low)) * depth + third)
    return np.lexsort((third, second, first))


def _places(question: StickyGroup, counts: Ints, total: int, filled: int) -> Places:
    low, above = divmod(total, question.member_count)
    order = question.by_id
    in_order = counts[order]
    # Nobody waits for a high place once the members that had enough have taken them all.
    waiting = order[in_order == low] if filled < above else order[:0]
    under = order[in_order < low]
    return Places(
        low=low,
        above=above,
        filled=filled,
        under=under,
        need=low - counts[under],
        waiting=waiting.tolist(),
        names=[member.id for member in question.group.spec.members],
    )
