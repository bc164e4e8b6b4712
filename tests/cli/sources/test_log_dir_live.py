"""`--log-dir` on the directories of a broker that was killed: what Kafka's tools and Kohort had said of it live."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Answer, Kohort
from tests.cli.tool_rows import MISSING, Key, by_key
from tests.coordinator.store.real_log import RealLog, in_any_order
from tests.coordinator.store.real_log_story import BUSY, ORDERS, RECORDS, TOPICS
from tests.coordinator.store.restart import COMPRESSED
from tests.coordinator.store.what_was_said import MODES, Moment
from tests.kafka.columns import Row, parse

pytestmark = pytest.mark.kafka

Group = dict[str, Any]
UNKNOWN_COLUMNS = {
    "--offsets": {"LOG-END-OFFSET", "LAG"},
    "--members": set[str](),
    "--state": {"COORDINATOR"},
}
"""What no log of the coordinator says, by mode: there the cell is empty."""


@pytest.fixture(params=[0, 1], ids=["first", "last"])
def moment(request: pytest.FixtureRequest, real_log: RealLog) -> Moment:
    noted: Moment = real_log.moments[request.param]
    return noted


class Log:
    """The real log as a source, as it was at a moment."""

    def __init__(self, kohort: Kohort, data: Path, as_of_ms: int | None = None) -> None:
        self.kohort, self.data = kohort, data
        self.as_of = [] if as_of_ms is None else ["--as-of", str(as_of_ms)]

    def ask(self, *args: str) -> Answer:
        """A command that must succeed, and has nothing to complain about."""
        return self.kohort.quick(*args, "--log-dir", self.data, *self.as_of).succeeded()

    def groups(self) -> dict[str, Group]:
        """What `describe` says of all groups but the one that never rests."""
        document = self.ask("describe", "--all-groups", "--output", "json").document
        assert document["errors"] == []
        return _groups(document)


@pytest.fixture
def log(kohort: Kohort, real_log: RealLog, moment: Moment) -> Log:
    """The log as of the moment; the last one is also what it says without `--as-of`."""
    return Log(kohort, real_log.data, None if moment is real_log.last else moment.after_ms)


def test_list_says_what_it_said_live(log: Log, moment: Moment) -> None:
    document = log.ask("list", "--output", "json").document
    assert document["errors"] == []
    listed = [row for row in document["groups"] if row["group"] != BUSY]
    assert listed == [_as_offline(row) for row in moment.kohort_list["groups"] if row["group"] != BUSY]


def test_describe_says_what_it_said_live(log: Log, moment: Moment) -> None:
    expected = {name: _as_offline(group) for name, group in _groups(moment.kohort_describe).items()}
    groups = log.groups()
    assert (list(groups), groups) == (list(expected), expected)


def _groups(document: Mapping[str, Any]) -> dict[str, Group]:
    """By id. No broker tells the generation of a classic group: only the log knows it."""
    groups: dict[str, Group] = {
        group["group"]: {name: value for name, value in group.items() if name != "generation"}
        for group in document["groups"]
    }
    del groups[BUSY]
    return groups


def _as_offline(live: Mapping[str, Any]) -> Group:
    """What of a live document's group can be known offline; the rest is null."""
    group = dict(live)
    if group["type"] == "streams":
        group["protocol"] = None  # the assignor is a setting of the broker or of the group
    if "coordinator" in group:
        group["coordinator"] = None
        unknown = dict.fromkeys(("end", "lag"))
        if group["type"] == "share":
            # The start offsets of a share group are in another topic.
            unknown |= dict.fromkeys(("committed", "leader_epoch"))
        group["offsets"] = [{**row, **unknown} for row in group["offsets"]]
    return group


def test_a_moment_is_the_same_at_its_begin_and_end(kohort: Kohort, real_log: RealLog, moment: Moment) -> None:
    begin = Log(kohort, real_log.data, moment.before_ms).groups()
    assert begin == Log(kohort, real_log.data, moment.after_ms).groups()


def test_a_dry_run_of_the_log_equals_the_live_one(log: Log, moment: Moment) -> None:
    document = log.ask("dry-run", "--all-groups", "--output", "json").document
    assert document["errors"] == []
    assert document["groups"] == moment.kohort_dry_run["groups"]


@pytest.mark.parametrize("mode", MODES)
def test_describe_shows_what_kafkas_tool_showed(log: Log, moment: Moment, mode: str) -> None:
    reported = moment.rows("consumer", mode)
    # In the cells of what cannot be known offline there is a dash.
    expected = {
        key: row | dict.fromkeys(UNKNOWN_COLUMNS[mode] & row.keys(), MISSING)
        for key, row in _stable_only(reported).items()
    }
    describe = ["describe", *sorted({row["GROUP"] for row in reported}), mode, "--verbose"]
    for shown in (parse(log.ask(*describe).stdout), log.ask(*describe, "--output", "csv").rows):
        rows = _stable_only(shown)
        assert set(rows) == set(expected)
        for key, row in expected.items():
            assert {name: rows[key].get(name, MISSING) for name in row} == row


def _stable_only(rows: Iterable[Mapping[str, str]]) -> dict[Key, Row]:
    """Rows by what they are about, but for the group that never rests."""
    return by_key(row for row in rows if row["GROUP"] != BUSY)


def test_list_shows_what_kafkas_tools_showed(log: Log, moment: Moment) -> None:
    rows = {row["GROUP"]: row for row in log.ask("list", "--output", "csv").rows}
    for tool, text in moment.listed.items():
        for row in parse(text):
            shown = rows[row["GROUP"]]
            assert shown["STATE"] == row["STATE"]
            assert shown["TYPE"].lower() == row.get("TYPE", tool).lower()


def test_members_of_share_and_streams_groups_are_what_their_tools_showed(log: Log, moment: Moment) -> None:
    groups = log.groups()
    for kind, heading in (("share", "CONSUMER-ID"), ("streams", "MEMBER")):
        shown = {row[heading] for row in moment.rows(kind, "--members")}
        assert {member["id"] for member in groups[kind]["members"]} == shown


def test_the_last_commits_before_the_kill_are_there(kohort: Kohort, real_log: RealLog) -> None:
    answer = Log(kohort, real_log.data).ask("describe", BUSY, "--output", "json")
    (group,) = answer.document["groups"]
    (row,) = group["offsets"]
    # The last one may have been written and not answered.
    assert row["committed"] - real_log.busy_acknowledged in (0, 1)


def test_a_generation_is_counted_on(kohort: Kohort, real_log: RealLog) -> None:
    first, last = (
        Log(kohort, real_log.data, moment.after_ms).ask("describe", "range", "--output", "json").document
        for moment in real_log.moments
    )
    before, after = first["groups"][0]["generation"], last["groups"][0]["generation"]
    assert 1 <= before <= 2
    assert after == before + 1


def test_a_compacted_log_says_the_same(kohort: Kohort, real_log: RealLog, compacted_log: Path) -> None:
    before = sum(path.stat().st_size for path in real_log.segments())
    after = sum(path.stat().st_size for path in compacted_log.glob("__consumer_offsets-*/*.log"))
    assert after < before / 2
    groups = Log(kohort, compacted_log).groups()
    compressed = groups.pop(COMPRESSED)
    assert [row["committed"] for row in compressed["offsets"]] == [RECORDS] * TOPICS[ORDERS]
    expected = {name: _as_offline(group) for name, group in _groups(real_log.last.kohort_describe).items()}
    # It never had anything but offsets that were rolled back: compaction takes it away.
    del expected["aborted-only"]
    assert {name: in_any_order(group) for name, group in groups.items()} == {
        name: in_any_order(group) for name, group in expected.items()
    }


def test_nothing_is_written_and_features_are_known(kohort: Kohort, real_log: RealLog) -> None:
    def files() -> dict[Path, tuple[int, int]]:
        return {file: (file.stat().st_mtime_ns, file.stat().st_size) for file in real_log.data.rglob("*")}

    before = files()
    assert "group.version: 1" in Log(kohort, real_log.data).ask("snapshot").stdout
    assert files() == before
