"""Dry runs of groups: the rebalances, the oddities, and the assignor that computes them."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from assignors import registry
from assignors.assignor import Leader, Side
from cli.verbs.dry_run.action import dry_run_document
from groups.dry_run import DryRunRequest, compare, dry_run_all
from groups.group_spec import WhatIf
from groups.model import Client, Group, GroupType, Subscription, Topic
from tests.groups.facts import classic, member, topics
from tests.support.golden import assert_recorded

EVERY = [(side, name) for side in Side for name in registry.known(side)]


def scenes() -> Iterator[tuple[str, Group, DryRunRequest, dict[str, Topic]]]:
    plain, t4, t6 = DryRunRequest(), topics(t=4), topics(t=6)
    cooperative, mixed, alone = "cooperative-sticky", ("cooperative-sticky", "range"), ("cooperative-sticky",)
    halves = [member("a", {"t": [0, 1, 2]}), member("b", {"t": [3, 4, 5]})]
    for name in ("range", cooperative):
        yield f"{name} with one more member", classic(halves, name), DryRunRequest(what_if=WhatIf(add=1)), t6
    eager = [member(name, {"t": [at, at + 1]}, protocols=mixed) for name, at in (("b", 2), ("c", 4))]
    bounced = member("a", {"t": [0, 1]}, protocols=alone)
    yield "the second bounce", classic([bounced, *eager], cooperative), plain, t6
    joining = [
        member("a", {"t": [0, 1, 2, 3]}, protocols=alone),
        member("b", {"t": [4, 5]}, protocols=mixed),
        member("c", protocols=mixed, generation=-1),
    ]
    yield "the second bounce, and a cooperative member loses", classic(joining, cooperative), plain, t6
    recorded = {name: Client(library=name) for name in ("librdkafka", "java", "connect", "franz-go")}
    librdkafka = recorded["librdkafka"]
    unlisted = [member("a", {"t": [0]}), member("b", client=librdkafka), member("c", protocols=alone)]
    yield "lists that are not known", classic(unlisted, cooperative), plain, topics(t=2)
    for rack in ("a", None):
        group = classic([member("a", client=recorded["franz-go"], rack=rack)])
        yield f"a leader of franz-go in rack {rack}", group, plain, topics(t=2)
    for names in (("librdkafka", "librdkafka"), ("librdkafka", "java"), ("connect",)):
        led = classic([member(f"m{at}", client=recorded[name]) for at, name in enumerate(names)])
        yield f"members of {' and '.join(names)}", led, plain, topics(t=2)
    for protocol, protocols, assignor in (
        ("sticky", None, None),
        ("range", None, "sticky"),
        (cooperative, mixed, None),
    ):
        for how, client in (("inferred", Client(id="rdkafka")), ("recorded", librdkafka)):
            group = classic([member("a", client=client, protocols=protocols)], protocol)
            about = f"librdkafka, {how}, with {protocol}, {protocols}, {assignor}"
            yield about, group, DryRunRequest(assignor=assignor), topics(t=2)
    yield "Kafka Streams", classic([member("a")], "stream"), plain, topics(t=1)
    targets = [
        replace(member("a", {"t": [0, 1, 2]}), target={"t": (0, 1)}),
        replace(member("b", {"t": [3]}), target={"t": (2, 3)}),
    ]
    yield "a target", replace(classic(targets, "uniform"), type=GroupType.CONSUMER), plain, t4
    regex = classic([member("a", subscription=Subscription(regex="t.*"))], "uniform")
    yield "a regex", replace(regex, type=GroupType.CONSUMER), plain, topics(t=1, t2=1, xt=1)
    two = classic([member("a"), member("b")])
    yield "an assignor of the broker", two, DryRunRequest(assignor="uniform"), topics(t=2)
    only_java = DryRunRequest(assignor="sticky", leader=Leader.LIBRDKAFKA)
    yield "an assignor that the leader has not", two, only_java, topics(t=2)
    yield "a share group", replace(two, type=GroupType.SHARE), plain, topics(t=1)
    yield "a group of Connect", replace(two, protocol_type="connect"), plain, topics(t=1)
    unknown = replace(member("a", {"t": [0]}), subscription=None)
    yield "an unknown subscription", classic([unknown]), plain, topics(t=2)
    # Partitions that no longer exist count as owned: what is left over the second time finds no member with room.
    gone = classic([member("a", {"t": [2, 3]}), member("b")], cooperative)
    yield "a failure in the second rebalance", gone, plain, topics(t=2)


def shown(group: Group, request: DryRunRequest, known: dict[str, Topic]) -> str:
    runs, problems = dry_run_all([group], known, request)
    document = dry_run_document(runs, problems).as_data()
    fields = {**(document["groups"][0] if runs else {}), "errors": document["errors"]}
    return "\n".join(f"{name}: {json.dumps(value)}" for name, value in fields.items())


def test_each_group_has_the_recorded_dry_run() -> None:
    answers = {about: shown(group, request, known) for about, group, request, known in scenes()}
    assert_recorded("dry-run/groups.txt", answers)


@pytest.mark.parametrize(("side", "name"), EVERY)
@pytest.mark.parametrize(
    ("group", "odd"),
    [
        (classic([member("a", {"gone": [0], "t": [0]})]), "a owns gone:0 of a topic that no longer exists"),
        (classic([member("a", {"t": [0, 1]}), member("b", {"t": [1, 2]})]), "t-1 is owned by a and b"),
        (classic([member("a", {"t": [0]}, ["u"]), member("b")]), "a owns t:0 without subscribing to it"),
        (classic([member("a", {"t": [0, 9]}), member("b")]), "a owns t:9, but the topic has 3 partitions"),
        (classic([]), "g has no members"),
        (classic([member("a", topics=[])]), "g subscribes to no topic: there is nothing to assign"),
        (classic([member("a", topics=["missing"])]), "missing is subscribed to and does not exist"),
        (
            classic([member(f"m{at}") for at in range(1000)]),
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


def test_comparing_asks_every_assignor_the_same() -> None:
    group = classic([member("a", {"t": [0, 1, 2]}), member("b", {"t": [3]})])
    runs, problems = compare(
        group, topics(t=4), DryRunRequest(), [registry.find(name, side) for side, name in EVERY]
    )
    assert [(run.side, run.assignor) for run in runs] == EVERY
    assert not problems
    assert all(run.minimum_moved == 1 and run.after.spread == 0 for run in runs)
