"""`--wait-empty`: changes wait until the members of a group have left."""

from __future__ import annotations

import subprocess

import pytest
from confluent_kafka import TopicPartition

from tests.cli.offset_rig import OffsetRig
from tests.kafka.members import fresh_name

pytestmark = pytest.mark.kafka


def test_a_reset_waits_for_the_members_to_leave(rig: OffsetRig) -> None:
    """And sets the offsets after what they committed when they left."""
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
    assert "no members are left after" in rest
    assert f"set 1 offset of {group}" in rest
    assert rig.committed(group) == {(topic, 0): 7}


def test_a_wait_that_is_in_vain_is_refused(rig: OffsetRig) -> None:
    topic, group = rig.topic([1]), fresh_name("stays")
    rig.group({(topic, 0): 1}, group)
    idle = rig.group({(topic, 0): 1})
    with rig.joined(group, topic) as member:
        for words in (f"offsets reset {group} --to-earliest --all-topics", f"delete {group} {idle}"):
            refused = rig.ours(f"{words} --wait-empty 200ms --execute --yes")
            assert refused.status == 4
            assert f"waited 0.2 s in vain for 1 member of {group}: {member} at /127.0.0.1" in refused.stderr
            assert f"{group}: 1 active member (Stable): {member} at /127.0.0.1; stop" in refused.stderr
    assert f"deleted {idle}" in refused.stderr


def test_nothing_is_waited_for_where_nothing_is_changed(rig: OffsetRig) -> None:
    line = "offsets reset any --to-earliest --all-topics --wait-empty"
    rig.ours(f"{line} 5s").assert_refused("without --execute none is")
    rig.ours(f"{line} soon --execute --yes").assert_refused("--wait-empty: 'soon' is not a duration")
