"""Which assignor a group elects, and what it goes through until it rests: one assignment or several.

- eager: everybody gives up everything, the leader assigns, the group rests;
- cooperative (KIP-429): a partition that changes hands is withheld in one rebalance and handed over in the
  next, which begins because somebody had to revoke; eager members among them give up everything each time;
- the consumer protocol (KIP-848): the broker sets one target, and each partition that moves is handed over as
  soon as its old owner has let go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from assignors.assignor import Assignor, RebalanceProtocol, Side
from assignors.errors import AssignorFailedError, NoCommonProtocolError
from assignors.java.hash_map import map_order, string_hashes
from assignors.model import Claim, DenseGroup, GroupSpec, Partitions, Result, Undetermined

Place: TypeAlias = tuple[str, int]
"""A topic and a partition number."""
Owners: TypeAlias = dict[Place, tuple[str, ...]]
"""Member ids by what they have; several of one partition where an assignor shares it, or claims are at odds."""

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
    """Given to a member that was not their owner last."""
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


def procedure_of(assignor: Assignor, members: Collection[str], eager: Collection[str]) -> Procedure:
    """How partitions change hands among these members, of which some are eager.

    It is cooperative as long as the assignor can be, and any member keeps what does not move.
    """
    if assignor.side is Side.BROKER:
        return Procedure.CONSUMER
    cooperates = RebalanceProtocol.COOPERATIVE in assignor.protocols
    all_eager = bool(members) and all(member in eager for member in members)
    return Procedure.COOPERATIVE if cooperates and not all_eager else Procedure.EAGER


def run_rebalances(
    spec: GroupSpec, assignor: Assignor, before: Mapping[str, Partitions], eager: Collection[str] = ()
) -> RebalanceSeries:
    """From what members own before to where the group rests.

    `eager` members, by id, give up everything before each rebalance, and cause none by what they lose: all of them
    under an eager assignor, and after the first of two bounces those that list one too (KIP-429).
    AssignorFailedError where the real assignor would throw in the first one.
    """
    rebalances: list[Rebalance] = []
    undetermined: dict[Undetermined, None] = {}
    owners = owners_in(before)
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
        new = owners_in(assignment)
        # Members that are gone cannot revoke, and do not rejoin.
        given_up = [
            (place, owner)
            for place, holders in owners.items()
            for owner in holders
            if owner in eager or owner not in new.get(place, ())
        ]
        taken = [(place, owner) for place, owner in given_up if owner in assignment]
        given_up_by = Counter(place for place, _ in given_up)
        rebalances.append(
            Rebalance(
                assignment=assignment,
                moved=moved_between(latest, new),
                revoked=len({place for place, _ in taken}),
                without_owner=sum(1 for place, count in given_up_by.items() if count == len(owners[place])),
            )
        )
        rests = assignor.side is Side.BROKER or all(owner in eager for _, owner in taken)
        owners, latest, spec = new, latest | new, _next_round(spec, assignment, eager)
    return RebalanceSeries(
        rebalances=tuple(rebalances), rests=rests, undetermined=tuple(undetermined), failure=failure
    )


def _named(result: Result) -> dict[str, Partitions]:
    named = result.assignment.named()
    return {m: {topic: tuple(p) for topic, p in topics.items()} for m, topics in named.items()}


def owners_in(assignment: Mapping[str, Partitions]) -> Owners:
    """Who has what, of an assignment by member id."""
    owners: Owners = {}
    for member, topics in assignment.items():
        for topic, numbers in topics.items():
            for number in numbers:
                place = topic, number
                owners[place] = (*owners[place], member) if place in owners else (member,)
    return owners


def moved_between(latest: Owners, new: Owners) -> int:
    """Partitions that had an owner and are now given to a member that was none of theirs."""
    return sum(
        1
        for place, holders in new.items()
        if (had := latest.get(place, holders)) != holders and not set(holders) <= set(had)
    )


def _next_round(spec: GroupSpec, assignment: Mapping[str, Partitions], eager: Collection[str]) -> GroupSpec:
    """Everybody rejoins with what it was given, or without it where it is eager, one generation on."""
    generation = max((member.owned.generation for member in spec.members), default=-1) + 1

    def claim(member: str) -> Claim:
        kept = {} if member in eager else assignment.get(member, {})
        return Claim(partitions=kept, generation=generation)

    members = tuple(replace(member, owned=claim(member.id)) for member in spec.members)
    return replace(spec, members=members)


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
