"""Which rebalance protocol and which assignor a group ends up with (KIP-429, Consumer Rebalance Protocol)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assignors.assignor import Assignor, RebalanceProtocol
from assignors.errors import AssignorError
from assignors.java.java_order import map_order, string_hashes


class NoCommonProtocolError(AssignorError):
    """Members, or the assignors of one member, have nothing in common."""


def rebalance_protocol(assignors: Sequence[Assignor]) -> RebalanceProtocol:
    """The highest protocol that all assignors of a member support: one eager assignor keeps it eager.

    NoCommonProtocolError where there is none (Java refuses to construct such a consumer).
    """
    if not assignors:
        raise NoCommonProtocolError("a member needs at least one assignor")
    common = frozenset.intersection(*(assignor.protocols for assignor in assignors))
    if not common:
        names = ", ".join(assignor.name for assignor in assignors)
        raise NoCommonProtocolError(f"the assignors {names} support no rebalance protocol in common")
    return max(common, key=lambda protocol: protocol.value)


def elect(lists: Sequence[Sequence[str]]) -> str:
    """The group's assignor by vote: every member votes for its first one that all members support.

    A tie goes to the name that comes first in a Java HashMap (ClassicGroup.selectProtocol). Names stand in
    each list preferred first. NoCommonProtocolError when no name is in all lists.
    """
    candidates = set(lists[0]).intersection(*lists[1:]) if lists else set()
    if not candidates:
        raise NoCommonProtocolError("the members support no assignor in common")
    votes = Counter(next(name for name in names if name in candidates) for names in lists)
    most = max(votes.values())
    names = list(votes)
    order: list[int] = map_order(string_hashes(names)).indices.tolist()
    return next(names[i] for i in order if votes[names[i]] == most)
