"""Groups unused for some time: `list` and `delete --unused-for`."""

import time
from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.cli.offset_rig import OffsetRig
from tests.cli.schemas import faults
from tests.kafka.commits import make_consumer_groups, make_share_groups
from tests.kafka.groups import wait_group
from tests.kafka.members import Members, fresh_name
from tests.support.golden import assert_recorded

OLD_MS = 1_700_000_000_000
SNAPSHOT = f"""
kohort: 1
topics: {{orders: {{partitions: 1, end_offsets: {{0: 9}}}}}}
groups:
  admin: {{type: classic, state: Empty, protocol_type: "",
           offsets: {{orders: {{0: {{offset: 5, timestamp: {OLD_MS}}}}}}}}}
  bare: {{type: classic, state: Empty, protocol_type: "", offsets: {{}}}}
  left: {{type: classic, state: Empty, protocol_type: consumer,
          offsets: {{orders: {{0: {{offset: 5, timestamp: {OLD_MS}}}}}}}}}
  recent: {{type: consumer, state: Empty, protocol_type: consumer,
            offsets: {{orders: {{0: {{offset: 5, timestamp: 4102444800000}}}}}}}}
  running: {{type: classic, state: Stable, protocol_type: consumer, members: [{{id: m}}],
             offsets: {{orders: {{0: {{offset: 5, timestamp: {OLD_MS}}}}}}}}}
  untimed: {{type: classic, state: Empty, protocol_type: "", offsets: {{orders: {{0: {{offset: 5}}}}}}}}
"""


def test_what_is_not_known_is_no_reason_to_delete(kohort: Kohort, tmp_path: Path) -> None:
    (tmp_path / "groups.yaml").write_text(SNAPSHOT)
    lines = [
        "list --unused-for 30d --output json",
        "delete --unused-for 30d --output json",
        "delete running recent --unused-for 30d",
        *(f"delete --unused-for {value}" for value in ("30", "soon", "''")),
        "delete --unused-for 30d --wait-empty 5s --execute --yes",
    ]
    answers = {}
    for line in lines:
        answer = kohort.quick(f"{line} --snapshot", tmp_path / "groups.yaml")
        assert "json" not in line or not faults(answer.document)
        answers[line] = f"{answer.stdout}{answer.stderr}status {answer.status}"
    assert_recorded("delete/unused.txt", answers)


@pytest.mark.kafka
def test_unused_groups_of_a_cluster_go(rig: OffsetRig, members: Members) -> None:
    topic, prefix = rig.topic([3]), fresh_name("unused")
    names = {kind: f"{prefix}-{kind}" for kind in ("admin", "active", "classic", "consumer", "share")}
    rig.group({(topic, 0): 1}, names["admin"])
    rig.group({(topic, 0): 2}, names["classic"])
    begun_ms = time.time_ns() // 1_000_000
    with rig.joined(names["classic"], topic):
        pass
    members.confluent(rig.broker, names["active"], [topic])
    make_consumer_groups(rig.broker, [names["consumer"]], topic)
    make_share_groups(rig.broker, [names["share"]], topic)
    wait_group(rig.broker, names["active"], members=1)
    wait_group(rig.broker, names["classic"], members=0, state="Empty")
    ended_ms = time.time_ns() // 1_000_000

    words = ["--match", f"^{prefix}", "--unused-for"]
    assert rig.ours("list", *words, "1h").succeeded().document["groups"] == []
    listed = rig.ours("list", *words, "1ms").succeeded().document["groups"]
    reported = {row["group"]: (row["last_commit_ms"], row["last_member_ms"]) for row in listed}
    assert reported.keys() == set(names.values()) - {names["active"]}
    assert reported[names["admin"]][0] <= begun_ms
    assert reported[names["admin"]][1] is None
    assert reported[names["classic"]][0] <= begun_ms <= reported[names["classic"]][1] <= ended_ms
    for kind in ("consumer", "share"):
        assert reported[names[kind]][0] is None
        assert begun_ms <= reported[names[kind]][1] <= ended_ms
    preview = rig.ours("delete", *words, "1ms", output="csv").rows
    assert {row["GROUP"]: row["LAG"] for row in preview}[names["admin"]] == "2"
    assert all(row["LAST-COMMIT"] or row["LAST-MEMBER"] for row in preview)
    done = rig.ours("delete", *words, "1ms", "--execute", "--yes").succeeded()
    assert [group["deleted"] for group in done.document["groups"]] == [True] * 4
    left = rig.ours("list", "--match", f"^{prefix}").document["groups"]
    assert [group["group"] for group in left] == [names["active"]]
