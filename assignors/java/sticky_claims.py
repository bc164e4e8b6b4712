"""Who may keep what: claims of the sticky assignors, settled.

Java walks the members in the order of its HashMap and their claims in the order listed. A claim nobody made before is
granted. Against a rival, the claimant's own generation is compared with the one in the rival's *subscription*: later
takes the partition away, the same generation takes it away from both, earlier changes nothing. After a tie the
partition is disputed, and later claims are compared with the last claimant, who does not hold it.

Claims are not compared with the number of partitions: strays of a topic that takes part are held like any other.

Source: AbstractStickyAssignor.allSubscriptionsEqual.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.java.sticky_group import StickyGroup, places
from assignors.model import Ints
from assignors.runs import run_starts


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """Arrays over all dense ids, strays included."""

    owner: Ints
    """The member that holds the partition before anything is assigned; -1 is nobody."""
    disputed: NDArray[np.bool_] | None
    """Whether two members claimed it in one generation; somebody later may hold it all the same."""


def settle(question: StickyGroup) -> Settled:
    """Grant and refuse the claims of a group."""
    owner = np.full(question.id_count, -1, dtype=np.int64)
    ids, claimants = _claims_that_count(question)
    if not len(ids):
        return Settled(owner, None)
    owner[ids] = claimants
    times = np.bincount(ids, minlength=len(owner))
    if times.max() == 1:
        return Settled(owner, None)
    contested = times[ids] > 1
    return _contested(question, owner, ids[contested], claimants[contested])


def _claims_that_count(question: StickyGroup) -> tuple[Ints, Ints]:
    ids, claimants = question.claims.values, question.claims.row_of
    if question.takes_part.all() and not question.group.strays:
        return ids, claimants
    topics = question.topics_of(ids)
    counting = (topics >= 0) & question.takes_part[topics] if len(question.takes_part) else topics > 0
    return ids[counting], claimants[counting]


def _contested(question: StickyGroup, owner: Ints, ids: Ints, claimants: Ints) -> Settled:
    """Settle partitions claimed more than once: the first claims of all, then the second ones, and so on."""
    turn = places(question.hash_order)
    order = np.lexsort((turn[claimants], ids))
    ids, claimants = ids[order], claimants[order]
    starts = run_starts(ids)
    lengths = np.diff(np.append(starts, len(ids)))
    partition, last, held = ids[starts], claimants[starts], np.ones(len(starts), dtype=bool)
    disputed = np.zeros(len(owner), dtype=bool)
    for nth in range(1, int(lengths.max())):
        some = np.flatnonzero(lengths > nth)
        claimant = claimants[starts[some] + nth]
        mine, theirs = question.since[claimant], question.sent[last[some]]
        tie, later = mine == theirs, mine > theirs
        disputed[partition[some[tie]]] = True
        held[some[tie]], held[some[later]] = False, True
        last[some] = np.where(tie | later, claimant, last[some])
    owner[partition] = np.where(held, last, -1)
    return Settled(owner, disputed)
