"""Which of the coordinator's own assignors a group uses: the one that most members wish for.

A tie hangs on Java's maps. To describe, the broker looks at the map of wishes itself. To compute, it takes a
java.util.HashMap with a copy of that map, in which it counts the member's old wish down and its new one up; a wish
that comes (back) into such a map stands first in its bin.

Source: modern.consumer.ConsumerGroup.preferredServerAssignor, computePreferredServerAssignor; java.util.HashMap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assignors.java.java_order import DEFAULT_CAPACITY, presized_capacity, spread, string_hashes


def shown(wishes: Mapping[str, int], default: str) -> str:
    """What describe shows; `wishes` stand in the order of the broker's map."""
    return max(wishes, key=lambda name: wishes[name]) if wishes else default


def chosen(wishes: Mapping[str, int], old: str | None, new: str | None, configured: Sequence[str]) -> str:
    """What is computed with, after a member wishes for `new` and no longer for `old`; None is no wish.

    The first configured assignor stands for no wish at all, and for one that is not configured any more.
    """
    counts, in_bin = dict(wishes), list(wishes)
    if old is not None and old in counts:
        counts[old] -= 1
        if counts[old] == 0:
            del counts[old]
            in_bin.remove(old)
    if new is not None:
        if new not in counts:
            in_bin.insert(0, new)
        counts[new] = counts.get(new, 0) + 1
    if not counts:
        return configured[0]
    capacity = presized_capacity(int(len(wishes) / 0.75 + 1)) if wishes else DEFAULT_CAPACITY
    bins = dict(zip(in_bin, (spread(string_hashes(in_bin)) & (capacity - 1)).tolist(), strict=True))
    winner = max(sorted(in_bin, key=lambda name: bins[name]), key=lambda name: counts[name])
    return winner if winner in configured else configured[0]
