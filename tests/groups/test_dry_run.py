"""Dry runs of groups: the rebalances, the oddities, and the assignor that computes them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assignors.assignor import Leader, Side
from assignors.errors import NoCommonProtocolError
from assignors.rebalance import Procedure
from assignors.registry import known
from groups.dry_run import DryRunRequest, compare, dry_run, dry_run_all
from groups.group_spec import WhatIf
from groups.model import Client, Group, GroupType, Subscription, Topic
from tests.groups.facts import classic, member, topics

EVERY = [(side, name) for side in Side for name in known(side)]


def test_cooperative_withholds_and_then_hands_over() -> None:
    group = classic([member("a", {"t": [0, 1, 2]}), member("b", {"t": [3, 4, 5]})], "cooperative-sticky")
    run = dry_run(group, topics(t=6), DryRunRequest(what_if=WhatIf(add=1)))
    first, second = run.rebalances
    assert (first.moved, first.revoked, first.without_owner) == (0, 2, 2)
    assert (second.moved, second.revoked, second.without_owner) == (2, 0, 0)
    assert run.rests
    assert (run.after.least, run.after.most) == (2, 2)


def test_in_the_second_bounce_each_member_counts_by_its_own_list() -> None:
    mixed, alone = ("cooperative-sticky", "range"), ("cooperative-sticky",)
    members = [
        member("a", {"t": [0, 1]}, protocols=alone),
        member("b", {"t": [2, 3]}, protocols=mixed),
        member("c", {"t": [4, 5]}, protocols=mixed),
    ]
    run = dry_run(classic(members, "cooperative-sticky"), topics(t=6), DryRunRequest())
    assert (run.procedure, run.eager_members) == (Procedure.COOPERATIVE, ("b", "c"))
    (only,) = run.rebalances
    assert (only.revoked, only.without_owner) == (4, 4)
    assert next(owner for owner in run.members if owner.id == "a").kept == {"t": (0, 1)}


def test_what_is_not_known_of_lists_is_said() -> None:
    members = [
        member("a", {"t": [0]}),
        member("b", {"t": [1]}, client=Client(library="librdkafka")),
        member("c", protocols=("cooperative-sticky",)),
    ]
    run = dry_run(classic(members, "cooperative-sticky"), topics(t=2), DryRunRequest())
    assert run.unknown_lists == ("a",)
    eager = dry_run(classic([member("a")]), topics(t=2), DryRunRequest())
    assert (eager.eager_members, eager.unknown_lists) == (("a",), ())


@pytest.mark.parametrize(("library", "rack", "said"), [("franz-go", "a", True), ("franz-go", None, False)])
def test_a_franz_go_leader_looks_at_racks_in_its_own_way(library: str, rack: str | None, said: bool) -> None:
    group = classic([member("a", client=Client(library=library), rack=rack)])
    leader = dry_run(group, topics(t=2), DryRunRequest()).leader
    assert leader is not None
    assert leader.library is Leader.JAVA
    assert ("in a member's rack" in leader.known_by) is said


@pytest.mark.parametrize(
    ("protocol", "protocols", "assignor", "why"),
    [
        ("sticky", None, None, "has no assignor 'sticky': the id is misleading"),
        ("range", None, "sticky", "has no assignor 'sticky'"),
        (
            "cooperative-sticky",
            ("cooperative-sticky", "range"),
            None,
            "refuses a list of eager and cooperative assignors: the id is misleading",
        ),
    ],
)
def test_a_leader_that_is_only_inferred_never_refuses(
    protocol: str, protocols: tuple[str, ...] | None, assignor: str | None, why: str
) -> None:
    rdkafka = Client(id="rdkafka")
    group = classic([member("a", client=rdkafka, protocols=protocols)], protocol)
    leader = dry_run(group, topics(t=2), DryRunRequest(assignor=assignor)).leader
    assert leader is not None
    assert leader.library is Leader.JAVA
    assert leader.known_by == f"assumed: librdkafka, inferred from the client id, {why}"
    recorded = classic([member("a", client=Client(library="librdkafka"), protocols=protocols)], protocol)
    with pytest.raises((LookupError, NoCommonProtocolError)):
        dry_run(recorded, topics(t=2), DryRunRequest(assignor=assignor))


def test_streams_assignor_is_named() -> None:
    _, (problem,) = dry_run_all([classic([member("a")], "stream")], topics(t=1), DryRunRequest())
    assert "the assignor of Kafka Streams" in problem.message


def test_the_consumer_protocol_moves_from_the_target() -> None:
    members = [
        replace(member("a", {"t": [0, 1, 2]}), target={"t": (0, 1)}),
        replace(member("b", {"t": [3]}), target={"t": (2, 3)}),
    ]
    group = replace(classic(members, "uniform"), type=GroupType.CONSUMER)
    run = dry_run(group, topics(t=4), DryRunRequest())
    assert (run.side, run.leader, run.moved) == (Side.BROKER, None, 0)


def test_a_regex_takes_what_the_broker_would_match() -> None:
    subscription = Subscription(regex="t.*")
    group = replace(classic([member("a", subscription=subscription)], "uniform"), type=GroupType.CONSUMER)
    run = dry_run(group, topics(t=1, t2=1, xt=1), DryRunRequest())
    assert run.rebalances[-1].assignment == {"a": {"t": (0,), "t2": (0,)}}


@pytest.mark.parametrize(("side", "name"), EVERY)
@pytest.mark.parametrize(
    ("group", "odd"),
    [
        (
            classic([member("a", {"gone": [0], "t": [0]}), member("b")]),
            "a owns gone:0 of a topic that no longer exists",
        ),
        (classic([member("a", {"t": [0, 1]}), member("b", {"t": [1, 2]})]), "t-1 is owned by a and b"),
        (classic([member("a", {"t": [0]}, ["u"]), member("b")]), "a owns t:0 without subscribing to it"),
        (classic([member("a", {"t": [0, 9]}), member("b")]), "a owns t:9, but the topic has 3 partitions"),
        (classic([]), "g has no members"),
        (classic([member("a", topics=[])]), "g subscribes to no topic: there is nothing to assign"),
        (classic([member("a", topics=["missing"])]), "missing is subscribed to and does not exist"),
        (
            classic([member(f"m{number}") for number in range(1000)]),
            "g has 1,000 members for 3 partitions: at least 997 get none",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_oddities_are_named_and_nothing_breaks(group: Group, odd: str, side: Side, name: str) -> None:
    runs, problems = dry_run_all([group], topics(t=3), DryRunRequest(assignor=name, side=side))
    said = [f"{item.subject} {item.message}" for run in runs for item in run.oddities]
    assert odd in said or any(odd in problem.message for problem in problems)
    assert len(runs) + len(problems) == 1


def test_the_leader_is_inferred_and_said() -> None:
    librdkafka = Client(library="librdkafka")
    one = classic([member("a", client=librdkafka), member("b", client=librdkafka)])
    two = classic([member("a", client=librdkafka), member("b", client=Client(library="java"))])
    unknown = classic([member("a")])
    leaders = [dry_run(group, topics(t=2), DryRunRequest()).leader for group in (one, two, unknown)]
    assert [(leader and leader.library, leader and leader.known_by) for leader in leaders] == [
        (Leader.LIBRDKAFKA, "recorded in the source"),
        (Leader.JAVA, "assumed: the members run java and librdkafka"),
        (Leader.JAVA, "assumed: the members' library is not known"),
    ]


def test_an_assignor_of_one_side_is_found_there_under_any_leader() -> None:
    group = classic([member("a"), member("b")])
    assert dry_run(group, topics(t=2), DryRunRequest(assignor="uniform")).side is Side.BROKER
    with pytest.raises(LookupError, match="sticky"):
        dry_run(group, topics(t=2), DryRunRequest(assignor="sticky", leader=Leader.LIBRDKAFKA))


def test_groups_that_no_assignor_serves_are_refused_by_name() -> None:
    share = replace(classic([member("a")]), type=GroupType.SHARE)
    connect = replace(classic([member("a")]), protocol_type="connect")
    _, problems = dry_run_all([share, connect], topics(t=1), DryRunRequest())
    assert [problem.message for problem in problems] == [
        "a share group is not assigned by a consumer assignor",
        "its protocol type is 'connect': only consumers have these assignors",
    ]


def test_comparing_asks_every_assignor_the_same() -> None:
    from assignors.registry import find

    group = classic([member("a", {"t": [0, 1, 2]}), member("b", {"t": [3]})])
    assignors = [find(name, side) for side, name in EVERY]
    runs, problems = compare(group, topics(t=4), DryRunRequest(), assignors)
    assert [(run.side, run.assignor) for run in runs] == EVERY
    assert not problems
    assert all(run.minimum_moved == 1 and run.after.spread == 0 for run in runs)


def test_an_unknown_subscription_is_taken_to_be_what_is_owned_and_said() -> None:
    group = classic([replace(member("a", {"t": [0]}), subscription=None)])
    run = dry_run(group, {"t": Topic(name="t", partitions=2)}, DryRunRequest())
    assert [item.why for item in run.undetermined] == [
        "its subscription is unknown; assumed to be the topics that it owns"
    ]


def test_a_failure_after_the_first_rebalance_leaves_what_came_before() -> None:
    # partitions that no longer exist count as owned: what is left over the second time finds no member with room.
    group = classic([member("a", {"t": [2, 3]}), member("b")], "cooperative-sticky")
    (run,), (problem,) = dry_run_all([group], topics(t=2), DryRunRequest())
    assert len(run.rebalances) == 1
    assert (run.rests, run.failure) == (False, "No more unfilled consumers to be assigned.")
    assert problem.message == f"in rebalance 2 the real assignor would fail: {run.failure}"
