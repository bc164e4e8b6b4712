"""`kohort diagnose --replay` of what a watch recorded."""

from __future__ import annotations

from pathlib import Path

from cli.verbs.watch.recording import Header, Recorder, header_document, observation_document
from cli.verbs.watch.state import WatchObservation
from groups.model import Group, GroupState
from tests.cli.command import Kohort
from tests.groups.diagnosis.groups import START_MS, group, member, topics

SETTLED = group(member("a", (0, 1, 2)), member("b", (3, 4, 5)))
MOVING = group(
    member("a", (0, 1, 2, 3, 4, 5), target={"orders": (0, 1, 2)}),
    member("b", (), target={"orders": (3, 4, 5)}),
    state=GroupState.RECONCILING,
)


def record(file: Path, *groups: Group | None) -> Path:
    """A look every five seconds."""
    recorder = Recorder.create(file, force=True)
    recorder.write(header_document(Header(at_ms=START_MS, groups=("payments",), source="s", every_ms=5_000)))
    for position, each in enumerate(groups):
        at_ms = START_MS + 5_000 * position
        seen = WatchObservation(
            asked_ms=at_ms, at_ms=at_ms, groups={"payments": each}, topics=topics(orders=6)
        )
        recorder.write(observation_document(seen))
    recorder.close()
    return file


def test_recording_is_judged_by_all_its_observations(kohort: Kohort, tmp_path: Path) -> None:
    file = record(tmp_path / "stuck.jsonl", SETTLED, *[MOVING] * 5)
    answer = kohort.quick("diagnose --output json --replay", file)
    (found,) = answer.document["groups"]
    (finding,) = (each for each in found["findings"] if each["rule"] == "rebalance-stuck")
    assert (answer.status, found["verdict"], finding["since"]) == (1, "error", "1970-01-01T00:16:45.000Z")
    text = " ".join(kohort.quick("diagnose payments --replay", file).stdout.split())
    assert text.startswith(
        "payments: 1 error (6 rules not checked: 3 need 1 min of observation; --verbose shows them). ERROR "
        "rebalance-stuck"
    )
    assert "observed for 20 s" in text
    assert "a to revoke orders-3" in text


def test_recording_of_a_healthy_group_is_healthy(kohort: Kohort, tmp_path: Path) -> None:
    file = record(tmp_path / "healthy.jsonl", SETTLED, MOVING, SETTLED, SETTLED)
    assert (
        kohort.quick("diagnose --replay", file).succeeded().stdout.startswith("payments: no problems found")
    )


def test_recording_that_ends_without_the_group(kohort: Kohort, tmp_path: Path) -> None:
    file = record(tmp_path / "gone.jsonl", SETTLED, None)
    assert kohort.quick("diagnose --output json --replay", file).document["groups"][0]["verdict"] == "ok"


def test_replay_refuses_another_source_and_filters(kohort: Kohort, tmp_path: Path) -> None:
    file = record(tmp_path / "one.jsonl", SETTLED)
    kohort.quick("diagnose --all-groups --replay", file).assert_refused("--replay")
    kohort.quick("diagnose -b localhost:9092 --replay", file).assert_refused("--replay")
