"""`kohort members remove` on a real broker: what leaves, what follows, and what rejoins."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Answer, Kohort
from tests.cli.journal.entries import entries_about
from tests.cli.offset_rig import OffsetRig
from tests.cli.schemas import faults
from tests.kafka.groups import MemberView, describe, wait_group
from tests.kafka.members import Members, fresh_name
from tests.migration.raw_consumer import STATIC_LEAVE, RawConsumer

COOPERATIVE = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"


@pytest.fixture(scope="module")
def topic(session_rig: OffsetRig) -> str:
    return session_rig.topic([1, 1])


def removed(rig: OffsetRig, group: str, *options: str) -> Answer:
    answer = rig.ours("members", "remove", group, *options, "--execute", "--yes")
    assert not faults(answer.document)
    return answer


def member_of(rig: OffsetRig, group: str, client: str) -> MemberView:
    view = describe(rig.broker, group)
    assert view is not None
    (member,) = [member for member in view.members if member.client_id == client]
    return member


def test_dead_static_members_stay_away(rig: OffsetRig, members: Members, topic: str) -> None:
    group = fresh_name("classic")
    settings: dict[str, Any] = {"group_instance_id": "dead", "session_timeout_ms": 900_000}
    member = members.java(rig.broker, group, [topic], **settings)
    wait_group(rig.broker, group, members=1)
    member.stop()  # static: it leaves nothing behind but its name
    preview = rig.ours("members", "remove", group, "--instance", "dead")
    (shown,) = preview.succeeded().document["groups"]
    assert not faults(preview.document)
    (removal,) = shown["removals"]
    assert (removal["instance"], removal["owned"]) == ("dead", {topic: [0, 1]})
    assert shown["follows"][0].startswith(f"{group} becomes Empty")
    removed(rig, group, "--instance", "dead", "--instance", "typo").assert_said(
        3, f"{group}: no member with instance id typo; kohort describe {group} --members shows them"
    )
    assert member_of(rig, group, member.name).instance == "dead"
    done = removed(rig, group, "--instance", "dead", "--reason", "host is gone").succeeded()
    assert f"removed 1 member of {group}, which is Empty with 0 members\n" in done.stderr
    assert [removal["removed"] for removal in done.document["groups"][0]["removals"]] == [True]
    assert ("cannot restore 1 removed member" in done.stderr, "Undo:" in done.stderr) == (True, False)
    entry, end = entries_about(group)[-1]
    assert [(item.kind.value, (item.name or "")[:4]) for item in entry.items] == [("member", "dead")]
    assert end is not None
    assert end.status.value == "done"
    removed(rig, group, "--all").assert_said(3, f"{group}: has no members (Empty)")

    group = fresh_name("consumer")
    for name in ("one", "two", "three"):
        static = RawConsumer(broker=rig.broker, group=group, topics=(topic,), id=name, instance=name)
        static.join()
    static.leave(STATIC_LEAVE)
    (reported,) = removed(rig, group, "--instance", "one", "--member", "three").succeeded().document["groups"]
    (three,) = [removal for removal in reported["removals"] if removal["member"] == "three"]
    assert (three["epoch"], three["removed"]) == (-2, True)
    assert "members with epoch -2 left for a restart: they rejoin as new members" in reported["follows"]
    left = wait_group(rig.broker, group, members=1, state="Assigning")
    assert [view.member_id for view in left.members] == ["two"]


@pytest.mark.kafka
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_member_that_runs_joins_again(rig: OffsetRig, members: Members, protocol: str) -> None:
    group, topic = fresh_name(protocol), rig.topic([1, 1])
    one = members.java(rig.broker, group, [topic], group_protocol=protocol, group_instance_id="static")
    members.confluent(rig.broker, group, [topic], group_protocol=protocol)
    wait_group(rig.broker, group, members=2)
    old = member_of(rig, group, one.name).member_id
    done = removed(rig, group, "--client-id", one.name).succeeded()
    assert f"removed 1 member of {group}, which is " in done.stderr
    (removal,) = done.document["groups"][0]["removals"]
    assert (removal["member"], removal["client_id"]) == (old, one.name)
    wait_group(rig.broker, group, members=2)
    # A member of the consumer protocol keeps its id.
    assert (member_of(rig, group, one.name).member_id == old) is (protocol == "consumer")
    removed(rig, group, "--member", "no-such-id").assert_said(3, "no member with id no-such-id")
    everyone = removed(rig, group, "--host", "127.0.0.1").succeeded()
    assert [removal["removed"] for removal in everyone.document["groups"][0]["removals"]] == [True, True]


def test_the_last_member_of_the_consumer_protocol_does_not_rejoin(
    rig: OffsetRig, members: Members, topic: str
) -> None:
    group = fresh_name("mixed")
    members.java(rig.broker, group, [topic], partition_assignment_strategy=COOPERATIVE)
    wait_group(rig.broker, group, members=1)  # a group that is just made cannot be converted
    modern = members.java(rig.broker, group, [topic], group_protocol="consumer")
    wait_group(rig.broker, group, members=2)
    (reported,) = removed(rig, group, "--client-id", modern.name).succeeded().document["groups"]
    assert any("the group becomes classic" in follow for follow in reported["follows"])
    assert "GroupIdNotFoundException" in str(modern.wait_event("error").reason)
    assert wait_group(rig.broker, group, members=1).kind == "classic"


@pytest.mark.kafka
def test_members_of_share_and_streams_groups_leave_by_heartbeat(rig: OffsetRig, members: Members) -> None:
    share, streams, topic = fresh_name("share"), fresh_name("streams"), rig.topic([1, 1])
    members.share(rig.broker, share, [topic])
    members.streams(rig.broker, streams, [topic])
    for group in (share, streams):
        view = wait_group(rig.broker, group, members=1)
        done = removed(rig, group, "--member", view.members[0].member_id, "--reason", "x").succeeded()
        # A busy machine reads only after it has rejoined.
        assert f"removed 1 member of {group}, which is " in done.stderr
        assert "--reason is not sent" in done.stderr
    wait_group(rig.broker, share, members=1)


def test_a_member_that_left_meanwhile_is_refused(rig: OffsetRig, members: Members, topic: str) -> None:
    group = fresh_name("gone")
    with rig.joined(group, topic) as member:
        again = partial(removed, rig, group, "--all")
        shown = rig.asked(f"members remove {group} --all --execute", meanwhile=again)
    assert member in shown.stdout
    assert "about to remove 1 member" in shown.terminal
    assert shown.status == 4
    assert f"{group}, {member}: UNKNOWN_MEMBER_ID: it has left since the preview" in shown.terminal


def test_command_lines(kohort: Kohort, tmp_path: Path) -> None:
    kohort.quick("demo", tmp_path).succeeded()
    for line, why in {
        "": "--all is required",
        "--all --member a": "--all cannot be used with",
        f"--all --reason {'x' * 256}": "has 256 characters; Kafka takes at most 255",
        "--all --execute --yes": "is read-only",
    }.items():
        kohort.quick("members remove billing", *line.split(), "--embedded", tmp_path).assert_refused(why)
    unknown = kohort.quick("members remove no-such-group --all --embedded", tmp_path)
    unknown.assert_refused("no such group", status=3)
