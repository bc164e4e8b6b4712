"""Java's sticky assignors: balanced first, then as few moves as possible; `sticky` is eager.

Members of sticky report their partitions in the user data of their subscription (`sticky_user_data`): V1 with a
generation, V0 without. The generation of the subscription itself (`DenseGroup.owned.generations`) decides between
rivals of a claim; the rest of `owned` is ignored.

`assign_sticky` is the part that both sticky assignors share: grant the claims, then run the algorithm for the
subscriptions. Static members are treated as dynamic ones: Java's sticky assignors ignore instance ids. A real leader's
assignor remembers the highest generation that it ever saw; this one has no memory.

cooperative-sticky withholds partitions that other members must revoke first: a withheld partition has no owner until
the next rebalance, when its old owner no longer claims it. Members report their partitions in the subscription:
`DenseGroup.owned`. If there is no generation (subscriptions before version 2), it is read from the user data, where a
cooperative member sends nothing else. Withheld with equal subscriptions: partitions that one member must revoke and
another gets, and partitions claimed twice in one generation. Otherwise: partitions assigned to a member that does not
claim them while a claimant does not keep them, whatever its generation and subscription.

Source: org.apache.kafka.clients.consumer.StickyAssignor, CooperativeStickyAssignor,
AbstractStickyAssignor.assignPartitions (Kafka 4.3.1); KIP-54, KIP-429.
"""

import numpy as np

from assignors.java.sticky_claims import Holdings, StickyOutcome, grant_claims
from assignors.java.sticky_different_subscriptions import assign_general
from assignors.java.sticky_equal_subscriptions import assign_equal
from assignors.java.sticky_input import StickyInput, racks_of
from assignors.model import DenseGroup, Ints, Result
from assignors.sticky_user_data import read_claim, read_generation


def assign(group: DenseGroup) -> Result:
    """sticky; raises AssignorFailedError with Java's message if Java would throw."""
    group, claims = group.with_claims([read_claim(m.user_data or b"") for m in group.spec.members])
    inputs = StickyInput(group=group, claims=claims.partitions, since=claims.generations)
    outcome = assign_sticky(inputs)
    return Result(assignment=outcome.held.assignment(inputs), undetermined=outcome.undetermined)


def assign_sticky(inputs: StickyInput) -> StickyOutcome:
    """Assign; `held.withheld` is set if the subscriptions are equal."""
    if not inputs.member_count:
        return StickyOutcome(Holdings(np.full(inputs.id_count, -1, dtype=np.int64)))
    granted, racks = grant_claims(inputs), racks_of(inputs)
    if inputs.all_equal:
        return StickyOutcome(assign_equal(inputs, granted, racks))
    return assign_general(inputs, granted, racks)


def assign_cooperatively(group: DenseGroup) -> Result:
    """cooperative-sticky; raises AssignorFailedError with Java's message if Java would throw."""
    sent = group.owned.generations
    since = sent
    if (sent < 0).any():
        in_user_data = [read_generation(member.user_data) for member in group.spec.members]
        since = np.where(sent >= 0, sent, np.array(in_user_data, dtype=np.int64))
    inputs = StickyInput(group=group, claims=group.owned.partitions, since=since)
    outcome = assign_sticky(inputs)
    held = outcome.held
    withheld = _still_claimed(inputs, held) if held.withheld is None else held.withheld
    held.owner[withheld] = -1
    return Result(assignment=held.assignment(inputs), undetermined=outcome.undetermined)


def _still_claimed(inputs: StickyInput, held: Holdings) -> Ints:
    """Partitions whose new owner does not claim them while a claimant does not keep them."""
    ids, claimants = inputs.claims.values, inputs.claims.row_of
    by_owner = held.owner[ids] == claimants
    kept = by_owner if held.first_copy is None else by_owner | (held.first_copy[ids] == claimants)
    lost = np.zeros(len(held.owner), dtype=bool)
    lost[ids[~kept]] = True
    lost[ids[by_owner]] = False
    return np.flatnonzero(lost)
