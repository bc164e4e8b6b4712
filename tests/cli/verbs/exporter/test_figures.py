"""The figures of `kohort exporter` are those of `kohort describe` and `kohort list`, of groups of every type."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Kohort
from tests.cli.fleet import PARTITIONS, Fleet
from tests.cli.verbs.exporter.scrapes import Exporter, Figures, exporting
from tests.kafka.wait import wait_until

TYPES = {"classic", "consumer", "share", "streams"}


def ready(exporter: Exporter) -> Figures:
    wait_until(lambda: exporter.get("/-/ready").status == 200, lambda: f"ready: {exporter.stderr}")
    return exporter.scrape()


@pytest.mark.timeout(180)
def test_figures_equal_those_of_describe(kohort: Kohort, fleet: Fleet, tmp_path: Path) -> None:
    source = ("-b", fleet.broker.bootstrap, "--match", f"^{fleet.prefix}-")

    def described(*options: str) -> dict[str, dict[str, Any]]:
        document = kohort("describe", *options, *source, "--output", "json").document
        return {group["group"]: group for group in document["groups"]}

    before = described("--lag-time", "--totals", "--last-commit")
    with exporting(kohort, tmp_path, "--per", "partition", "--commit-times", *source) as exporter:
        shown = ready(exporter)
        assert exporter.scrape(accept="text/plain", compressed=False).samples.keys() == shown.samples.keys()
        assert exporter.stop() == 0
    after = described("--lag-time", "--totals", "--last-commit")
    assert {group["type"] for group in before.values()} == TYPES
    assert shown.by("kohort_group_readable", "group") == dict.fromkeys(before, 1)
    for name, group in before.items():
        compare_group(shown, name, group)
        compare_lag(shown, name, group, after[name])
        compare_commits(shown, name, group, after[name])
    assert shown("kohort_group_last_commit_timestamp_seconds", group=fleet.groups["simple"]) is not None
    listed = kohort("list", *source, "--output", "json").document["groups"]
    assert {row["group"]: sum(shown.by("kohort_group_members", "protocol", group=row["group"]).values())
            for row in listed} == {row["group"]: row["members"] for row in listed}  # fmt: skip
    migrations = kohort("describe --migration", *source, "--output", "json").document["groups"]
    blocked = {migration["group"]: migration["migration"]["upgrade_blocked_by"] for migration in migrations}
    assert shown.by("kohort_group_upgrade_blockers", "group") == {
        name: len(blockers) for name, blockers in blocked.items() if blockers is not None
    }
    assert shown("kohort_group_partitions_without_owner", group=fleet.groups["java-range"]) == 0
    assert shown("kohort_group_partitions_owned", group=fleet.groups["streams"]) == PARTITIONS


def compare_group(shown: Figures, name: str, group: dict[str, Any]) -> None:
    """State, type, protocol, epochs, members by protocol."""
    info = {
        "type": group["type"],
        "protocol_type": group["protocol_type"],
        "protocol": group["protocol"] or "",
    }
    assert shown("kohort_group_info", group=name, **info) == 1
    assert shown.by("kohort_group_state", "state", group=name) == {group["state"]: 1}
    assert shown("kohort_group_epoch", group=name) == group.get("group_epoch")
    assert shown("kohort_group_assignment_epoch", group=name) == group.get("assignment_epoch")
    protocols = [member["protocol"] or group["type"] for member in group["members"]]
    assert shown.by("kohort_group_members", "protocol", group=name) == (
        {protocol: protocols.count(protocol) for protocol in protocols} or {group["type"]: 0}
    )
    epochs = [member["epoch"] for member in group["members"] if member["epoch"] is not None]
    assert shown("kohort_group_member_epoch_min", group=name) == min(epochs, default=None)
    assert shown("kohort_group_member_epoch_max", group=name) == max(epochs, default=None)
    assert shown("kohort_group_members_behind", group=name) == (None if group["type"] == "classic" else 0)


def compare_commits(shown: Figures, name: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    """When the group last committed; its members may commit while the commands run."""
    seconds = shown("kohort_group_last_commit_timestamp_seconds", group=name)
    times = [
        [row["last_commit_ms"] for row in group["offsets"] if row["last_commit_ms"] is not None]
        for group in (before, after)
    ]
    if not all(times):
        assert seconds is None
    else:
        assert seconds is not None
        assert max(times[0]) <= round(seconds * 1000) <= max(times[1])


def compare_lag(shown: Figures, name: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Lag in records and in seconds, whose age grows from one command to the next, at every level."""
    assert shown("kohort_group_lag_records", group=name) == before["totals"]["lag"]
    assert shown("kohort_group_lag_unknown_partitions", group=name) == before["totals"]["lag_unknown"]
    older = {topic["topic"]: topic for topic in after["totals"]["topics"]}
    levels: list[tuple[Any, Any, str, dict[str, str]]] = [(before["totals"], after["totals"], "group", {})]
    levels += [
        (topic, older[topic["topic"]], "topic", {"topic": topic["topic"]})
        for topic in before["totals"]["topics"]
    ]
    for totals, later, level, labels in levels:
        assert shown(f"kohort_{level}_lag_records", group=name, **labels) == totals["lag"]
        seconds = shown(f"kohort_{level}_lag_seconds", group=name, **labels)
        is_between(seconds, totals["max_lag_ms"], later["max_lag_ms"])
    rows = {(row["topic"], row["partition"]): row for row in before["offsets"]}
    for row in after["offsets"]:
        partition = {"group": name, "topic": row["topic"], "partition": str(row["partition"])}
        earlier = rows[row["topic"], row["partition"]]
        assert shown("kohort_partition_lag_records", **partition) == row["lag"]
        assert shown("kohort_partition_committed_offset", **partition) == row["committed"]
        assert shown("kohort_partition_end_offset", **partition) == row["end"]
        is_between(shown("kohort_partition_lag_seconds", **partition), earlier["lag_ms"], row["lag_ms"])


def is_between(seconds: float | None, least_ms: int | None, most_ms: int | None) -> None:
    if least_ms is None or most_ms is None:
        assert seconds is None
    else:
        assert seconds is not None
        assert least_ms <= seconds * 1000 <= most_ms
