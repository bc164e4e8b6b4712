"""`kohort lag`, which is `kohort list --lag`, and the list that `kohort top --once` prints."""

import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.command import Answer, Kohort
from tests.cli.offset_rig import FIRST_MS, STEP_MS, OffsetRig
from tests.kafka.members import fresh_name

SNAPSHOT = """
kohort: 1
topics: {t: {partitions: 3, end_offsets: {0: 1000, 1: 5}}}
groups:
  at-end: {offsets: {t: {0: {offset: 1000}}}}
  slow: {offsets: {t: {0: {offset: 10}, 1: {offset: 7}}}}
  unknown: {type: consumer, offsets: {t: {1: {offset: 5}, 2: {offset: 1}}}}
  unread: {}
"""
FIELDS = ("lag", "lag_unknown", "lag_s", "partitions", "without_offset")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A topic of 20 and 5 records, one a minute, a group that lags in both partitions, and one at the end of one."""

    rig: OffsetRig
    topic: str
    lagging: str
    done: str

    def lag(self, *args: str, output: str = "csv") -> Answer:
        return self.rig.ours(*args, "--match", f"^({self.lagging}|{self.done})$", output=output)


@pytest.fixture(scope="module")
def scene(session_rig: OffsetRig) -> Scene:
    return _scene(session_rig)


def _scene(rig: OffsetRig) -> Scene:
    topic = rig.topic([20, 5])
    lagging = rig.group({(topic, 0): 3, (topic, 1): 4})
    return Scene(rig=rig, topic=topic, lagging=lagging, done=rig.group({(topic, 0): 20}))


def _check(scene: Scene) -> None:
    waits = fresh_name("waits")
    with scene.rig.joined(waits, scene.topic):
        before_ms = time.time_ns() // 1_000_000
        document = scene.rig.ours("lag", waits, scene.lagging, scene.done).succeeded().document
    rows = {row["group"]: row for row in document["groups"]}
    age_s = rows[scene.lagging]["lag_s"]
    assert 0 <= age_s - (before_ms - FIRST_MS - 3 * STEP_MS) / 1000 < 600
    assert {name: [rows[name][field] for field in FIELDS] for name in rows} == {
        waits: [None, 2, None, 2, 2],
        scene.lagging: [18, 0, age_s, 2, 0],
        scene.done: [0, 0, 0, 1, 0],
    }
    assert rows[waits]["members"] == 1
    assert [document["totals"][field] for field in ("groups", *FIELDS)] == [3, 18, 2, age_s, 5, 2]


def test_lag_in_records_and_time_of_each_group_and_all(scene: Scene) -> None:
    _check(scene)


@pytest.mark.kafka
def test_lag_of_groups_on_a_real_broker(rig: OffsetRig) -> None:
    _check(_scene(rig))


def test_lag_is_list_with_lag(scene: Scene) -> None:
    for short, long, groups in (
        ("lag", "list --lag", {scene.lagging, scene.done}),
        ("lag --only-with-lag", "list --only-with-lag", {scene.lagging}),
    ):
        by_line = [scene.lag(*line.split()).succeeded(stderr="") for line in (short, long)]
        first, second = ({row["GROUP"]: row["LAG"] for row in answer.rows} for answer in by_line)
        assert first == second
        assert first.keys() == groups


def test_named_groups_in_a_table_that_is_sorted(scene: Scene) -> None:
    answer = scene.rig.ours("lag", scene.done, scene.lagging, "--sort", "LAG:desc", output="table")
    heading, *rows, _, total = answer.succeeded(stderr="").stdout.splitlines()
    assert " ".join(heading.split()) == "GROUP STATE #MEMBERS LAG LAG-TIME #PARTITIONS WITHOUT-OFFSET"
    assert [row.split()[0] for row in rows] == [scene.lagging, scene.done]
    assert total.startswith("Total of 2 groups: lag 18, longest ")
    assert total.endswith(", 3 partitions.")
    scene.rig.ours("lag", scene.done, "no-such").assert_said(3, "no-such: no such group")


def test_lag_with_the_readers_of_a_topic(scene: Scene) -> None:
    answer = scene.lag("list", "--lag", "--topic", scene.topic).succeeded()
    assert {row["GROUP"]: (row["LAG"], row["READS"]) for row in answer.rows} == {
        scene.lagging: ("18", f"{scene.topic} (committed)"),
        scene.done: ("0", f"{scene.topic} (committed)"),
    }


def test_what_a_snapshot_does_not_show_is_unknown(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    file.write_text(SNAPSHOT)
    document = kohort.quick("list --lag --output json --snapshot", file).succeeded().document
    assert {row["group"]: [row[field] for field in FIELDS] for row in document["groups"]} == {
        "at-end": [0, 0, 0, 1, 0],
        "slow": [990, 0, None, 2, 0],
        "unknown": [0, 1, 0, 2, 0],
        "unread": [None, 0, None, None, None],
    }
    table = kohort.quick("list --lag --snapshot", file).succeeded(
        stderr="kohort: lag time is not known: a snapshot contains no records\n"
    )
    total = "Total of 4 groups: lag 990, 5 partitions, 1 with unknown lag."
    assert table.stdout.splitlines()[-1] == total
    only = kohort.quick("lag --only-with-lag --snapshot", file).succeeded()
    assert [line.split()[0] for line in only.stdout.splitlines()[1:-2]] == ["slow"]
    assert "2 groups left out" in only.stderr
    none = kohort.quick("lag --only-with-lag --match at-end --snapshot", file).succeeded(stderr="")
    assert len(none.stdout.splitlines()) == 1


def test_top_once_prints_the_same(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    file.write_text(SNAPSHOT)
    for words in ("", "slow at-end", "--match ^un"):
        once = kohort.quick(f"top --once {words} --snapshot", file)
        assert once == kohort.quick(f"lag {words} --snapshot", file).succeeded()
    kohort.quick("top --once --web --snapshot", file).assert_refused("--once prints the list")


def test_the_table_fits_80_columns(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    file.write_text(SNAPSHOT.replace("slow", "invoices-service-production").replace("1000", "1234567890"))
    screen = kohort.screen("list --lag --snapshot", file, columns=80)
    assert "invoic" in screen
    assert "WITHOUT-OFFSET  " not in screen
