"""The sticky algorithm for members that all subscribe to the same topics.

With P partitions and n members everybody ends at the low quota P // n or, P % n of them, one above it.

In HashMap order each member keeps its partitions, the lowest numbers first (then topic names): up to the high quota
while high places are left, else up to the low one. Disputed partitions are not kept, nor are those whose racks
mismatch. The rest goes to the places that are left (`sticky_places`).

Source: AbstractStickyAssignor.ConstrainedAssignmentBuilder (Kafka 4.3.1).
"""

from __future__ import annotations

import numpy as np

from assignors.model import Ints
from assignors.runs import run_starts
from assignors.sticky_claims import Settled
from assignors.sticky_group import StickyGroup
from assignors.sticky_holdings import Holdings, take_unassigned
from assignors.sticky_places import Places, hand_out
from assignors.sticky_racks import Racks


def assign_equal(question: StickyGroup, settled: Settled, racks: Racks | None) -> Holdings:
    """Raises AssignorFailedError where claims of partitions that do not exist leave Java without places."""
    held = Holdings(settled.owner.copy())
    topics = question.by_name[question.takes_part[question.by_name]]
    total = int(np.diff(question.group.topic_start)[topics].sum())
    cut = np.full(len(held.owner), -1, dtype=np.int64)
    _drop_unsuitable(held, settled, racks, cut)
    counts = held.counts(question.member_count)
    quotas, filled = _quotas(question, counts, total)
    if (counts > quotas).any():
        _cut_down(question, held, counts, quotas, cut)
        counts = np.minimum(counts, quotas)
    rest = take_unassigned(question, held, topics)
    places = _places(question, counts, total, filled)
    receivers = hand_out(places, rest, racks)
    held.owner[rest] = receivers
    # Handed to another member than the one it was cut from.
    moving = (cut[rest] >= 0) & (cut[rest] != receivers)
    if settled.disputed is not None:
        moving |= settled.disputed[rest]
    held.withheld = np.zeros(len(held.owner), dtype=bool)
    held.withheld[rest[moving]] = True
    return held


def _drop_unsuitable(held: Holdings, settled: Settled, racks: Racks | None, cut: Ints) -> None:
    if racks is not None:
        ids = np.flatnonzero(held.owner >= 0)
        ids = ids[racks.mismatch(held.owner[ids], ids)]
        cut[ids] = held.owner[ids]
        held.owner[ids] = -1
    if settled.disputed is not None:
        held.owner[settled.disputed] = -1


def _quotas(question: StickyGroup, counts: Ints, total: int) -> tuple[Ints, int]:
    """How many partitions each member may keep, and how many members keep the high quota."""
    low, above = divmod(total, question.member_count)
    quotas = np.full(question.member_count, low, dtype=np.int64)
    if not above or counts.max() <= low:
        return quotas, 0
    in_order = question.hash_order
    high = in_order[counts[in_order] > low][:above]
    quotas[high] = low + 1
    return quotas, len(high)


def _cut_down(question: StickyGroup, held: Holdings, counts: Ints, quotas: Ints, cut: Ints) -> None:
    """Overloaded members give up their highest partitions: by number, then topic name."""
    ids = np.flatnonzero(held.owner >= 0)
    ids = ids[(counts > quotas)[held.owner[ids]]]
    owners = held.owner[ids]
    name_rank = np.empty(len(question.by_name), dtype=np.int64)
    name_rank[question.by_name] = np.arange(len(question.by_name))
    order = _three_keys(owners, question.numbers_of(ids), name_rank[question.topics_of(ids)])
    ids, owners = ids[order], owners[order]
    starts = run_starts(owners)
    place = np.arange(len(ids)) - np.repeat(starts, np.diff(np.append(starts, len(ids))))
    gone = place >= quotas[owners]
    cut[ids[gone]] = owners[gone]
    held.owner[ids[gone]] = -1


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
