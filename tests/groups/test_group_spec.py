"""What an assignor is asked about a group."""

from __future__ import annotations

from assignors.assignor import Leader, Side
from assignors.model import Partitions, Undetermined
from assignors.rebalance import Procedure
from assignors.registry import find
from groups.group_spec import PLACED_LATER, ask, topic_specs
from groups.model import Group, GroupState, GroupType, Member, Subscription, Topic

TOPICS = {name: Topic(name=name, partitions=3) for name in ("a", "b")}
OWNED = {"a": (0, 1), "b": (2,)}


def claimed(
    assignor: str, procedure: Procedure, resubscribed: bool = False
) -> tuple[Partitions, Partitions | None]:
    """Owned partitions and user data of a member that has partitions of `a` and `b` and now wants only `a`."""
    member = Member(id="m", subscription=Subscription(topics=("a",)), owned=OWNED)
    group = Group(id="g", type=GroupType.CLASSIC, state=GroupState.STABLE, members=(member,))
    side = Side.BROKER if procedure is Procedure.CONSUMER else Side.CLIENT
    question = ask(group, TOPICS, find(assignor, side, Leader.JAVA), procedure, {"m"} if resubscribed else ())
    (asked,) = question.spec.members
    return asked.owned.partitions, None if asked.user_data is None else asked.user_data.partitions


def test_a_cooperative_member_gives_up_what_it_no_longer_wants_when_it_changes_its_subscription() -> None:
    assert claimed("cooperative-sticky", Procedure.COOPERATIVE, resubscribed=True) == ({"a": (0, 1)}, None)


def test_a_cooperative_member_claims_all_that_it_owns_otherwise_wanted_or_not() -> None:
    assert claimed("cooperative-sticky", Procedure.COOPERATIVE) == (OWNED, None)


def test_an_eager_member_has_given_up_everything_and_remembers_it_in_user_data() -> None:
    assert claimed("sticky", Procedure.EAGER) == ({}, OWNED)
    assert claimed("cooperative-sticky", Procedure.EAGER) == ({}, None)


def test_the_brokers_target_stays_as_it_was() -> None:
    assert claimed("uniform", Procedure.CONSUMER) == (OWNED, None)


def marked(*subscriptions: Subscription) -> bool:
    """Whether the broker's assignor is told that the regexes make the subscriptions unequal."""
    members = tuple(
        Member(id=f"m{i}", subscription=subscription, owned={})
        for i, subscription in enumerate(subscriptions)
    )
    group = Group(id="g", type=GroupType.CONSUMER, state=GroupState.STABLE, members=members)
    question = ask(group, TOPICS, find("uniform", Side.BROKER), Procedure.CONSUMER)
    return any(member.by_regex for member in question.spec.members)


def test_one_regex_for_all_is_equal_to_the_broker_and_any_other_use_is_not() -> None:
    by_regex, other, both = (
        Subscription(regex="a"),
        Subscription(regex="[ab]"),
        Subscription(topics=("a",), regex="a"),
    )
    assert not marked(by_regex, by_regex)
    assert not marked(Subscription(topics=("a",)), Subscription(topics=("b",)))
    assert marked(by_regex, other)
    assert marked(by_regex, Subscription(topics=("a",)))
    assert marked(both, both)
    assert marked(Subscription(regex="nothing"), by_regex)


def test_where_all_partitions_are_in_all_racks_a_new_one_will_be_too() -> None:
    notes: list[Undetermined] = []
    (spec,) = topic_specs([Topic(name="t", partitions=3, racks={0: ("a", "b"), 1: ("b", "a")})], notes)
    assert spec.racks == (("a", "b"), ("b", "a"), ("a", "b"))
    assert notes == []


def test_elsewhere_a_new_one_is_taken_to_stand_like_those_before_it_and_that_is_said() -> None:
    notes: list[Undetermined] = []
    (spec,) = topic_specs([Topic(name="t", partitions=4, racks={0: ("a",), 1: ("b",)})], notes)
    assert spec.racks == (("a",), ("b",), ("a",), ("b",))
    assert notes == [Undetermined(subject=f"t-{number}", why=PLACED_LATER) for number in (2, 3)]


def test_a_partition_without_replicas_in_a_known_rack_is_not_a_new_one() -> None:
    notes: list[Undetermined] = []
    (spec,) = topic_specs([Topic(name="t", partitions=2, racks={0: ("a",), 1: ()})], notes)
    assert (spec.racks, notes) == ((("a",), ()), [])


def test_unknown_racks_stay_unknown() -> None:
    (spec,) = topic_specs([Topic(name="t", partitions=2)], [])
    assert spec.racks is None
