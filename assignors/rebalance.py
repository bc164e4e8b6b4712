"""Which assignor a group elects, and what it goes through until it rests: one assignment or several.

- eager: everybody gives up everything, the leader assigns, the group rests;
- cooperative (KIP-429): a partition that changes hands is withheld in one rebalance and handed over in the
  next, which begins because somebody had to revoke;
- the consumer protocol (KIP-848): the broker sets one target, and each partition that moves is handed over as
  soon as its old owner has let go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from assignors.assignor import Assignor, RebalanceProtocol, Side
from assignors.errors import AssignorFailedError, NoCommonProtocolError
from assignors.java.hash_map import map_order, string_hashes
from assignors.model import Claim, DenseGroup, GroupSpec, Partitions, Result, Undetermined

Place: TypeAlias = tuple[str, int]
"""A topic and a partition number."""

MOST_REBALANCES = 10
"""Cooperative groups rest after two; more than this would be a loop, and is said to be one."""


class Procedure(Enum):
    """How partitions change hands."""

    EAGER = "eager"
    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebalance:
    """One rebalance: counts are of partitions."""

    assignment: Mapping[str, Partitions]
    """What the assignor gave, by member."""
    moved: int
    """Given to another member than the one that had them last."""
    revoked: int
    """Taken from members, to be given to others or back to them."""
    without_owner: int
    """Had an owner before, and none meanwhile or, if they are withheld, afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalanceSeries:
    """All rebalances until the group rests."""

    rebalances: tuple[Rebalance, ...]
    rests: bool
    """False when the bound was reached first."""
    undetermined: tuple[Undetermined, ...]
    failure: str | None = None
    """What the real assignor would throw in the rebalance after the last one here."""


def procedure_of(assignor: Assignor) -> Procedure:
    """The procedure of an assignor's side, and on the client side of the highest protocol it supports."""
    if assignor.side is Side.BROKER:
        return Procedure.CONSUMER
    if RebalanceProtocol.COOPERATIVE in assignor.protocols:
        return Procedure.COOPERATIVE
    return Procedure.EAGER


def run_rebalances(
    spec: GroupSpec, assignor: Assignor, before: Mapping[str, Partitions], procedure: Procedure
) -> RebalanceSeries:
    """From what members own before to where the group rests.

    AssignorFailedError where the real assignor would throw in the first one.
    """
    rebalances: list[Rebalance] = []
    undetermined: dict[Undetermined, None] = {}
    owners = _owners(before)
    latest = dict(owners)
    rests = False
    failure: str | None = None
    while not rests and len(rebalances) < MOST_REBALANCES:
        try:
            result = assignor.assign(DenseGroup.of(spec))
        except AssignorFailedError as error:
            if not rebalances:
                raise
            failure = str(error)
            break
        assignment = _named(result)
        undetermined |= dict.fromkeys(result.undetermined)
        new = _owners(assignment)
        # Members that are gone cannot revoke, and do not rejoin.
        lost = [place for place, owner in owners.items() if owner in assignment and new.get(place) != owner]
        rebalances.append(
            Rebalance(
                assignment=assignment,
                moved=sum(1 for place, owner in new.items() if latest.get(place, owner) != owner),
                revoked=_held(owners, assignment) if procedure is Procedure.EAGER else len(lost),
                without_owner=len(owners)
                if procedure is Procedure.EAGER
                else sum(1 for place, owner in owners.items() if new.get(place) != owner),
            )
        )
        rests = procedure is not Procedure.COOPERATIVE or not lost
        owners, latest, spec = new, latest | new, _next_round(spec, assignment)
    return RebalanceSeries(
        rebalances=tuple(rebalances), rests=rests, undetermined=tuple(undetermined), failure=failure
    )


def _named(result: Result) -> dict[str, Partitions]:
    named = result.assignment.named()
    return {m: {topic: tuple(p) for topic, p in topics.items()} for m, topics in named.items()}


def _owners(assignment: Mapping[str, Partitions]) -> dict[Place, str]:
    return {(t, p): m for m, topics in assignment.items() for t, numbers in topics.items() for p in numbers}


def _held(owners: Mapping[Place, str], members: Container[str]) -> int:
    return sum(1 for owner in owners.values() if owner in members)


def _next_round(spec: GroupSpec, assignment: Mapping[str, Partitions]) -> GroupSpec:
    """Everybody rejoins with what it was given, one generation on."""
    generation = max((member.owned.generation for member in spec.members), default=-1) + 1
    members = tuple(
        replace(member, owned=Claim(partitions=assignment.get(member.id, {}), generation=generation))
        for member in spec.members
    )
    return replace(spec, members=members)


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
