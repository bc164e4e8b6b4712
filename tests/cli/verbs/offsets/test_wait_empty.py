"""`--wait-empty`: changes wait until the members of a group have left."""

import subprocess
from dataclasses import replace

import pytest
from confluent_kafka import Consumer, TopicPartition

from groups.model import Group, GroupState, GroupType
from groups.offsets.plan import stays_after_a_close
from tests.cli.offset_rig import OffsetRig, join
from tests.kafka.groups import wait_group
from tests.kafka.look_alike import LookAlike, Product
from tests.kafka.members import Members, fresh_name


def test_a_reset_waits_for_the_members_to_leave(rig: OffsetRig) -> None:
    topic, group = rig.topic([9]), fresh_name("waits")
    rig.group({(topic, 0): 5}, group)
    words = ["offsets", "reset", group, "--all-topics", "--shift-by", "-1", "--wait-empty", "60s"]
    command = [rig.kohort.executable, *words, "--execute", "--yes", "-b", rig.broker.bootstrap]
    with rig.consumer(group) as consumer:
        consumer.subscribe([topic])
        while not consumer.assignment():
            consumer.poll(0.1)
        with subprocess.Popen(command, env=rig.kohort.env, text=True, stderr=subprocess.PIPE) as run:
            assert run.stderr is not None
            first = run.stderr.readline()
            assert first.startswith(
                f"kohort: waiting for 1 member of {group}: {consumer.memberid()} at /127.0.0.1"
            )
            consumer.commit(offsets=[TopicPartition(topic, 0, 8)], asynchronous=False)
            consumer.close()
            rest = run.stderr.read()
    assert run.returncode == 0, rest
    assert "all members have left after" in rest
    assert f"set 1 offset of {group}" in rest
    assert rig.committed(group) == {(topic, 0): 7}


@pytest.mark.kafka
def test_share_and_streams_groups_are_waited_for(rig: OffsetRig, members: Members) -> None:
    topic, groups = rig.topic([3]), [fresh_name("share"), fresh_name("streams")]
    started = [members.share(rig.broker, groups[0], [topic]), members.streams(rig.broker, groups[1], [topic])]
    for group in groups:
        wait_group(rig.broker, group, members=1)
    words = f"offsets reset {' '.join(groups)} --topic {topic} --to-earliest --wait-empty 60s --execute --yes"
    command = [rig.kohort.executable, *words.split(), "-b", rig.broker.bootstrap]
    with subprocess.Popen(command, env=rig.kohort.env, text=True, stderr=subprocess.PIPE) as run:
        assert run.stderr is not None
        assert run.stderr.readline().startswith("kohort: waiting for 2 members of 2 groups: ")
        for member in started:
            member.stop()
        rest = run.stderr.read()
    assert run.returncode == 0, rest
    assert f"set 1 offset of {groups[1]}; 1 offset of {groups[0]}" in rest


def test_members_that_stay_after_a_close_are_named(rig: OffsetRig) -> None:
    topic, group = rig.topic([1]), fresh_name("static")
    settings = {"bootstrap.servers": rig.broker.bootstrap, "group.id": group, "group.instance.id": "a"}
    consumer = Consumer({**settings, "session.timeout.ms": 6000})
    join(consumer, topic)
    consumer.close()
    waited = rig.ours(f"delete {group} --wait-empty 60s --execute --yes").succeeded()
    assert "do not leave when they close: they remain members until their session expires" in waited.stderr
    assert f"deleted {group}" in waited.stderr
    streams = Group(id="app", type=GroupType.CLASSIC, state=GroupState.STABLE, protocol="stream")
    assert stays_after_a_close(streams)
    assert not stays_after_a_close(replace(streams, protocol="range"))


def test_a_wait_that_is_in_vain_is_refused(rig: OffsetRig) -> None:
    topic, group = rig.topic([1]), fresh_name("stays")
    rig.group({(topic, 0): 1}, group)
    idle = rig.group({(topic, 0): 1})
    with rig.joined(group, topic) as member:
        for words in (f"offsets reset {group} --to-earliest --all-topics", f"delete {group} {idle}"):
            refused = rig.ours(f"{words} --wait-empty 200ms --execute --yes")
            assert refused.status == 4
            assert (
                f"timed out after 200 ms waiting for 1 member of {group}: {member} at /127.0.0.1"
                in refused.stderr
            )
            assert f"{group}: 1 active member (Stable): {member} at /127.0.0.1; stop" in refused.stderr
    assert f"deleted {idle}" in refused.stderr


def test_a_cluster_that_does_not_answer_for_a_while_is_waited_for(rig: OffsetRig) -> None:
    topic, group = rig.topic([1]), fresh_name("away")
    words = ["delete", group, "--wait-empty", "60s", "--execute", "--yes", "--timeout", "5000"]
    with rig.consumer(group) as consumer:
        join(consumer, topic)
        with LookAlike(rig.broker.port, Product()) as cluster:
            command = [rig.kohort.executable, *words, "-b", cluster.bootstrap]
            run = subprocess.Popen(command, env=rig.kohort.env, text=True, stderr=subprocess.PIPE)
            assert run.stderr is not None
            assert run.stderr.readline().startswith(f"kohort: waiting for 1 member of {group}: ")
        with run:
            assert run.stderr.readline().startswith(f"kohort: waiting for {group}: {cluster.bootstrap}: ")
            with LookAlike(rig.broker.port, Product(), port=cluster.port):
                consumer.close()
                rest = run.stderr.read()
                run.wait()
    assert run.returncode == 0, rest
    assert f"deleted {group}" in rest


def test_nothing_is_waited_for_where_nothing_is_changed(rig: OffsetRig) -> None:
    line = "offsets reset any --to-earliest --all-topics --wait-empty"
    rig.ours(f"{line} 5s").assert_refused("--wait-empty needs --execute")
    rig.ours(f"{line} soon --execute --yes").assert_refused("--wait-empty: 'soon' is not a duration")
