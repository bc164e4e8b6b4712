"""What a librdkafka leader takes cooperative-sticky's members to own.

Per partition the claim of the highest generation counts; the one before it makes the *previous* owner. Two claims of
one generation, whichever, void all claims of the partition. That a partition exists, or that the claimant subscribes
to it, is looked at later.

Beside that the leader keeps, per partition, the *last claimant* in the order of the JoinGroup response, whatever its
generation, and goes by it when partitions are moved and when the assignment is trimmed to the cooperative protocol.

Source: librdkafka 2.15, prepopulateCurrentAssignments, rd_kafka_collect_partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assignors.model import DenseGroup, Ints

NOBODY = -1


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """Members by dense partition id, strays included; NOBODY where there is none."""

    owner: Ints
    previous: Ints
    last_claimant: Ints
    """Of the partitions whose claims are not void."""
    last_of_all: Ints
    """The same, void claims included."""


def settle(group: DenseGroup, members: Sequence[int]) -> Claims:
    """Settle the claims of `members`, which are in the order of the JoinGroup response."""
    everything = group.partition_count + len(group.strays)
    owner, previous, last = (np.full(everything, NOBODY, dtype=np.int64) for _ in range(3))
    rows = [group.owned.partitions[m] for m in members]
    partitions = np.concatenate([*rows, np.empty(0, dtype=np.int64)])
    claimants = np.repeat(np.array(members, dtype=np.int64), [len(row) for row in rows])
    last[partitions] = claimants
    generations = group.owned.generations[claimants]
    by_generation = np.lexsort((generations, partitions))
    partitions, claimants = partitions[by_generation], claimants[by_generation]
    generations = generations[by_generation]
    follows = partitions[1:] == partitions[:-1]
    void = partitions[1:][follows & (generations[1:] == generations[:-1])]
    owner[partitions] = claimants
    # The last of a partition's run is its owner; the one before that, where there is one, comes before it.
    is_last = np.concatenate((~follows, [True])) if len(partitions) else np.zeros(0, dtype=bool)
    second = np.flatnonzero(is_last[1:] & follows)
    previous[partitions[second]] = claimants[second]
    claimant = last.copy()
    for known in (owner, previous, claimant):
        known[void] = NOBODY
    return Claims(owner, previous, claimant, last)
