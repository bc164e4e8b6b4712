"""The assignor that a group elects, and its rebalances until it settles: eager (all members revoke everything),
cooperative (KIP-429: a partition that moves is withheld in one rebalance and assigned in the next), or of the consumer
protocol (KIP-848: one target, each partition assigned as soon as its old owner has revoked it)."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeAlias

from assignors.assignor import Assignor, RebalanceProtocol, Side
from assignors.errors import AssignorFailedError, NoCommonProtocolError
from assignors.java.hash_map import string_order
from assignors.model import Claim, DenseGroup, GroupSpec, Partitions, Undetermined

Place: TypeAlias = tuple[str, int]  # A topic and a partition number
Owners: TypeAlias = dict[Place, tuple[str, ...]]
"""Member ids by partition; a partition has several if an assignor shares it, or if claims conflict."""

MOST_REBALANCES = 10  # cooperative groups settle after two; more than this is reported as a loop


class Procedure(Enum):
    EAGER = "eager"
    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebalance:
    assignment: Mapping[str, Partitions]  # the assignor's result, by member
    moved: int  # partitions assigned to a member that was not their last owner
    revoked: int  # partitions revoked from members, to be assigned to others or to the same members again
    without_owner: int
    """Partitions with an owner before, and without one during the rebalance or, if withheld, after it."""
    user_data: Mapping[str, bytes] = field(default_factory=dict)  # The assignor's bytes for members


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalanceSeries:
    rebalances: tuple[Rebalance, ...]
    rests: bool  # whether the group settled; False if MOST_REBALANCES was reached first
    undetermined: tuple[Undetermined, ...]
    failure: str | None = None
    """The exception of the real assignor in the rebalance after the last of `rebalances`."""


def procedure_of(assignor: Assignor, members: Collection[str], eager: Collection[str]) -> Procedure:
    """How partitions move: cooperatively if the assignor supports it and not all members are `eager`."""
    if assignor.side is Side.BROKER:
        return Procedure.CONSUMER
    cooperates = RebalanceProtocol.COOPERATIVE in assignor.protocols
    all_eager = bool(members) and all(member in eager for member in members)
    return Procedure.COOPERATIVE if cooperates and not all_eager else Procedure.EAGER


def run_rebalances(
    spec: GroupSpec, assignor: Assignor, before: Mapping[str, Partitions], eager: Collection[str] = ()
) -> RebalanceSeries:
    """The rebalances from the current owners until the group settles. Members in `eager` (all under an eager assignor;
    after the first of two bounces those that also list an eager one, KIP-429) revoke everything before each rebalance,
    and cause no further one. Raises AssignorFailedError: in the first rebalance."""
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
        assignment: dict[str, Partitions] = {
            member: {topic: tuple(numbers) for topic, numbers in topics.items()}
            for member, topics in result.assignment.named().items()
        }
        undetermined |= dict.fromkeys(result.undetermined)
        new = owners_in(assignment)
        rebalance, taken = _rebalance(assignment, owners, latest, new, eager)
        rebalances.append(replace(rebalance, user_data=result.user_data))
        rests = assignor.side is Side.BROKER or all(owner in eager for _, owner in taken)
        owners, latest, spec = new, latest | new, _next_round(spec, assignment, eager)
    return RebalanceSeries(
        rebalances=tuple(rebalances), rests=rests, undetermined=tuple(undetermined), failure=failure
    )


def rebalances_between(
    before: Mapping[str, Partitions],
    assignments: Iterable[Mapping[str, Partitions]],
    eager: Collection[str] = (),
) -> Iterator[Rebalance]:
    """The rebalances with these results; members in `eager` revoke everything before each."""
    owners = owners_in(before)
    latest = dict(owners)
    for assignment in assignments:
        new = owners_in(assignment)
        yield _rebalance(assignment, owners, latest, new, eager)[0]
        owners, latest = new, latest | new


def _rebalance(
    assignment: Mapping[str, Partitions],
    owners: Owners,
    latest: Owners,
    new: Owners,
    eager: Collection[str] = (),
) -> tuple[Rebalance, list[tuple[Place, str]]]:
    """A rebalance from `owners` to `new`, and what members revoke in it."""
    # Members that have left cannot revoke, and do not rejoin.
    given_up = [
        (partition, owner)
        for partition, holders in owners.items()
        for owner in holders
        if owner in eager or owner not in new.get(partition, ())
    ]
    taken = [(partition, owner) for partition, owner in given_up if owner in assignment]
    given_up_by = Counter(partition for partition, _ in given_up)
    rebalance = Rebalance(
        assignment=assignment,
        moved=moved_between(latest, new),
        revoked=len({partition for partition, _ in taken}),
        without_owner=sum(count == len(owners[place]) for place, count in given_up_by.items()),
    )
    return rebalance, taken


def owners_in(assignment: Mapping[str, Partitions]) -> Owners:
    owners: Owners = {}
    for member, topics in assignment.items():
        for topic, numbers in topics.items():
            for number in numbers:
                partition = topic, number
                owners[partition] = (*owners[partition], member) if partition in owners else (member,)
    return owners


def moved_between(latest: Owners, new: Owners) -> int:
    """The number of partitions that had an owner and are now assigned to a member that was not an owner."""
    return sum(
        (had := latest.get(place, holders)) != holders and not set(holders) <= set(had)
        for place, holders in new.items()
    )


def _next_round(spec: GroupSpec, assignment: Mapping[str, Partitions], eager: Collection[str]) -> GroupSpec:
    """Every member rejoins with its assignment, or without it if it is eager, one generation later."""
    generation = max((member.owned.generation for member in spec.members), default=-1) + 1
    kept = {m.id: {} if m.id in eager else assignment.get(m.id, {}) for m in spec.members}
    claims = {member: Claim(partitions=owned, generation=generation) for member, owned in kept.items()}
    return replace(spec, members=tuple(replace(m, owned=claims[m.id]) for m in spec.members))


def elect(lists: Sequence[Sequence[str]]) -> str:
    """The group's assignor: every member votes for its first one that all support; a tie is decided by the order of a
    Java HashMap (ClassicGroup.selectProtocol). Raises NoCommonProtocolError: none is in all lists."""
    candidates = set(lists[0]).intersection(*lists[1:]) if lists else set()
    if not candidates:
        raise NoCommonProtocolError("the members support no assignor in common")
    votes = Counter(next(name for name in names if name in candidates) for names in lists)
    most = max(votes.values())
    names = list(votes)
    order: list[int] = string_order(names).tolist()
    return next(names[i] for i in order if votes[names[i]] == most)
