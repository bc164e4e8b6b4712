"""`kohort watch` of real members on a real broker, which join, leave, and lose their broker for a while."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Kohort
from tests.cli.schemas import faults
from tests.cli.verbs.watch.running import Running, happened, in_pipe, observations
from tests.kafka.broker import Broker
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.members import Members, fresh_name
from tests.kafka.plugin import StartBroker
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("handled_interrupts")]

PARTITIONS = 6
KINDS: dict[str, dict[str, Any]] = {
    "eager": {"partition_assignment_strategy": "range"},
    "cooperative": {"partition_assignment_strategy": "cooperative-sticky"},
    "consumer": {"group_protocol": "consumer"},
}


def owners(document: dict[str, Any], group: str) -> dict[int, str]:
    """Who owns each partition of the only topic, as an observation shows it."""
    view = document["groups"][group] or {"members": []}
    return {
        number: member["id"]
        for member in view["members"]
        for numbers in member.get("owned", {}).values()
        for number in numbers
    }


def rests(group: str, ids: int) -> Callable[[dict[str, Any]], bool]:
    """Whether an observation shows a stable group in which this number of members own everything."""

    def holds(document: dict[str, Any]) -> bool:
        if document["kind"] != "observation" or not document["groups"].get(group):
            return False
        owned = owners(document, group)
        state = document["groups"][group]["state"]
        return state == "Stable" and len(owned) == PARTITIONS and len(set(owned.values())) == ids

    return holds


def last_rest(watch: Running, group: str, ids: int) -> dict[str, Any]:
    """The newest observation, once it shows the group stable with this number of members."""
    watch.wait_for(
        lambda run: observations(run.documents) and rests(group, ids)(observations(run.documents)[-1]),
        f"{group} rests with {ids}",
    )
    return list(filter(rests(group, ids), observations(watch.documents)))[-1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_joins_and_leaves(
    kohort: Kohort, broker: Broker, members: Members, tmp_path: Path, kind: str
) -> None:
    topic, group = fresh_name("orders"), fresh_name(kind)
    create_topics(broker, {topic: PARTITIONS})
    file = tmp_path / "recording.ndjson"
    line = f"watch {group} -b {broker.bootstrap} --every 0.1 --output json --record"
    start = members.java if kind == "consumer" else members.confluent
    with in_pipe(kohort, tmp_path, line, file) as watch:
        watch.wait_document(lambda document: document["kind"] == "observation", "the first look")
        first = start(broker, group, [topic], **KINDS[kind])
        alone = last_rest(watch, group, 1)
        second = start(broker, group, [topic], **KINDS[kind])
        both = last_rest(watch, group, 2)
        second.stop()
        again = last_rest(watch, group, 1)
        assert watch.interrupt() == 0
        documents, stderr = watch.documents, watch.stderr
    assert stderr == ""
    assert [fault for document in documents for fault in faults(document)] == []
    assert documents[0]["kind"] == "header"
    assert observations(documents)[0]["groups"] == {group: None}

    # The observation equals what the members own themselves.
    wait_until(lambda: first.assignment() == {topic: list(range(PARTITIONS))}, "the first has it all again")
    ids = {"first": first.member_id(), "second": second.member_id()}
    assert set(owners(alone, group).values()) == set(owners(again, group).values()) == {ids["first"]}
    assert set(owners(both, group).values()) == set(ids.values())

    # The events tell every one of these changes, and lead from each observation to the next.
    assert [row["member"] for row in happened(documents, "member-joined")] == [ids["first"], ids["second"]]
    assert [row["member"] for row in happened(documents, "member-left")] == [ids["second"]]
    assert replayed_owners(documents, documents.index(both)) == owners(both, group)
    assert replayed_owners(documents, documents.index(again)) == owners(again, group)
    moved = {number for number, owner in owners(both, group).items() if owner == ids["second"]}
    there = documents[documents.index(alone) : documents.index(both)]
    reported = {
        number
        for event in (*happened(there, "partitions-moved"), *happened(there, "partitions-assigned"))
        if event["after"] == [ids["second"]]
        for number in event["partitions"]
    }
    assert moved <= reported
    # The recording is the stream without its events, and tells the same again.
    replay = kohort.quick("watch --replay", file, "--output", "json").succeeded()
    assert replay.stdout.splitlines()[1:] == (tmp_path / "watch.out").read_text().splitlines()[1:]
    lines = kohort.quick("watch --replay", file).succeeded(stderr="").stdout.splitlines()
    assert sum(" joined" in line for line in lines) == 2
    picture = tmp_path / "picture.svg"
    assert kohort.quick("watch --replay", file, "--svg", picture).status == 0
    assert "no owner" in picture.read_text()


def replayed_owners(documents: list[dict[str, Any]], end: int) -> dict[int, str]:
    """Who owns what by the events alone."""
    owned: dict[int, str] = {}
    for document in documents[:end]:
        if document["kind"] == "event" and document["event"].startswith("partitions-"):
            for number in document["partitions"]:
                assert [owned.get(number)] == (document["before"] or [None])
                owned.pop(number, None)
                if document["after"]:
                    (owned[number],) = document["after"]
        elif document["kind"] == "event" and document["event"] == "group-gone":
            owned.clear()
    return owned


def test_a_script_waits_until_the_group_rests(
    kohort: Kohort, broker: Broker, members: Members, tmp_path: Path
) -> None:
    topic, group = fresh_name("orders"), fresh_name("rest")
    create_topics(broker, {topic: PARTITIONS})
    source = ["-b", broker.bootstrap, "--every", "0.1"]
    early = kohort("watch", group, *source, "--until", "stable", "--for", "0.3")
    assert (early.status, early.stderr) == (1, "")
    member = members.java(broker, group, [topic], group_protocol="consumer")
    assert kohort("watch", group, *source, "--until", "stable").status == 0
    # The member may still have been on its way to the epoch at which it owns everything.
    member.wait_assignment({topic: list(range(PARTITIONS))})
    assert kohort("watch", group, *source, "--until", "1", "--for", "30").status == 0
    assert kohort("watch", group, *source, "--until", "999999", "--for", "0.3").status == 1
    with in_pipe(kohort, tmp_path, "watch", group, *source, "--until", "empty") as watch:
        watch.wait_for(lambda run: group in run.stdout, "the first look")
        member.stop()
        assert watch.process.wait(60) == 0
        assert "left" in watch.stdout


def test_a_broker_stops_and_restarts(
    kohort: Kohort, start_broker: StartBroker, members: Members, tmp_path: Path
) -> None:
    broker = start_broker({})
    topic, group = fresh_name("orders"), fresh_name("outage")
    create_topics(broker, {topic: PARTITIONS})
    member = members.confluent(broker, group, [topic])
    member.wait_assignment({topic: list(range(PARTITIONS))})
    watching = f"watch {group} -b {broker.bootstrap} --every 0.2"
    listing = f"list -b {broker.bootstrap} --watch 0.2 --output json --timeout 2000"
    with (
        in_pipe(kohort, tmp_path, f"{watching} --output json", name="stream") as stream,
        in_pipe(kohort, tmp_path, watching, name="lines") as lines,
        in_pipe(kohort, tmp_path, listing, name="list") as listed,
    ):
        last_rest(stream, group, 1)
        lines.wait_for(lambda run: group in run.stdout, "the first look")
        listed.wait_for(lambda run: run.documents, "the first list")
        broker.crash()
        # A look that was under way may have got the group, but not its offsets.
        stream.wait_document(
            lambda document: (
                not document["groups"]
                and any(broker.bootstrap in error["subject"] for error in document.get("errors", ()))
            ),
            "the outage",
        )
        lines.wait_for(lambda run: "trying again" in run.stderr, "the outage is said")
        listed.wait_for(lambda run: "trying again" in run.stderr or _failed(run), "the outage is said")
        count = len(listed.documents)
        broker.start()
        wait_for_coordinator(broker)
        observation = len(stream.documents)
        stream.wait_for(
            lambda run: any(rests(group, 1)(one) for one in run.documents[observation:]), "the group is back"
        )
        lines.wait_for(lambda run: "the cluster answers again" in run.stderr, "the end of the outage is said")
        listed.wait_for(
            lambda run: group in {row["group"] for one in run.documents[count:] for row in one["groups"]},
            "the list is back",
        )
        statuses = [run.interrupt() for run in (stream, lines, listed)]
        assert statuses == [0, 0, 0]
        assert [fault for document in stream.documents for fault in faults(document)] == []
        for run in (stream, lines, listed):
            assert "Traceback" not in run.stderr


def _failed(running: Running) -> bool:
    return bool(running.documents and running.documents[-1]["errors"])
