"""Consent to a change: the preview, the question on a terminal, and what happens meanwhile."""

from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.cli.offset_rig import OffsetRig, join
from tests.kafka.members import fresh_name
from tests.kafka.topics import delete_topic
from tests.support.terminals import on_terminal


@pytest.fixture(scope="module")
def topic(session_rig: OffsetRig) -> str:
    return session_rig.topic([20, 20])


@pytest.mark.parametrize(("answer", "goes"), [("yes\n", True), ("Y\n", True), ("\n", False), ("no\n", False)])
def test_a_change_asks_for_confirmation_first(rig: OffsetRig, topic: str, answer: str, goes: bool) -> None:
    group = rig.group({(topic, 0): 3})
    ended = rig.asked(f"offsets reset {group} --topic {topic}:0 --to-latest --execute", answer=answer)
    assert ended.stdout.splitlines()[1].split() == [group, topic, "0", "3", "20", "20", "17", "0"]
    said = ended.terminal
    assert f"kohort: about to set 1 offset of {group}.\nType yes to continue: " in said
    assert ("nothing was changed" in said, f"set 1 offset of {group}\n" in said) == (not goes, goes)
    assert (ended.status, rig.committed(group)) == ((0, {(topic, 0): 20}) if goes else (1, {(topic, 0): 3}))


def test_what_was_typed_before_the_question_is_no_answer(rig: OffsetRig, topic: str, tmp_path: Path) -> None:
    group = rig.group({(topic, 0): 3})
    line = f"offsets reset {group} --topic {topic}:0 --to-latest --execute -b {rig.broker.bootstrap}"
    with (tmp_path / "preview").open("w") as file:
        command = [rig.kohort.executable, *line.split()]
        ended = on_terminal(
            command, rig.kohort.env, typed="yes\nyes\n", answers=["no\n"], stdout=file.fileno()
        )
    assert (ended.status, rig.committed(group)) == (1, {(topic, 0): 3})
    assert ended.terminal.index("NEW-OFFSET") < ended.terminal.index("Type yes to continue: ")
    assert group in (tmp_path / "preview").read_text()


def test_end_of_input_is_no_yes(rig: OffsetRig, topic: str) -> None:
    group = rig.group({(topic, 0): 3})
    ended = rig.asked(f"delete {group} --execute", answer="\x04")
    assert (ended.status, group in ended.stdout) == (1, True)
    assert "with all committed offsets" in ended.terminal
    assert rig.committed(group) == {(topic, 0): 3}


def test_the_question_shows_the_change_where_a_program_gets_the_output(rig: OffsetRig, topic: str) -> None:
    group = rig.group({(topic, 0): 3})
    ended = rig.asked(f"offsets delete {group} --topic {topic} --execute --output json")
    assert ended.status == 0
    assert (ended.stdout[:12], ended.stdout.count("\n")) == ('{"kohort": 1', 1)
    assert f"{group}  {topic}          0               3\n" in ended.terminal.replace("\x1b[?25l", "")
    assert rig.committed(group) == {}


def test_a_member_that_joins_while_the_question_stands(rig: OffsetRig, topic: str) -> None:
    group = rig.group({(topic, 0): 3, (topic, 1): 4})
    with rig.consumer(group) as consumer:
        line = f"offsets reset {group} --topic {topic} --to-latest --execute"
        ended = rig.asked(line, meanwhile=lambda: join(consumer, topic))
        assert rig.committed(group) == {(topic, 0): 3, (topic, 1): 4}
        assert rig.asked(f"delete {group} --execute").status == 4
    refused = (
        f"kohort: {group}, {topic}-0, {topic}-1: UNKNOWN_MEMBER_ID: a member has joined since the change was"
    )
    assert (ended.status, refused in ended.terminal) == (4, True)
    assert f"set 2 offsets of {group}\n" not in ended.terminal
    prefix = fresh_name("race")
    groups = [rig.group({(topic, 0): 3}, f"{prefix}-{letter}") for letter in "ab"]
    with rig.consumer(groups[0]) as consumer:
        ended = rig.asked(f"delete {' '.join(groups)} --execute", meanwhile=lambda: join(consumer, topic))
    refused = f"{groups[0]}: NON_EMPTY_GROUP: a member has joined since the change was shown"
    said = (f"deleted {groups[1]}\n" in ended.terminal, refused in ended.terminal)
    assert (ended.status, *said) == (4, True, True)
    assert rig.committed(groups[0]) == {(topic, 0): 3}


def test_a_topic_that_goes_while_the_question_stands(rig: OffsetRig, topic: str) -> None:
    other = rig.topic([5])
    group = rig.group({(topic, 0): 3})
    ended = rig.asked(
        f"offsets reset {group} --topic {topic} --topic {other} --to-latest --execute",
        meanwhile=lambda: delete_topic(rig.broker, other),
    )
    said = (f"set 2 offsets of {group}\n", f"{group}, {other}-0: UNKNOWN_TOPIC_OR_PARTITION")
    assert (ended.status, *(text in ended.terminal for text in said)) == (4, True, True)
    assert rig.committed(group) == {(topic, 0): 20, (topic, 1): 20}


@pytest.mark.parametrize(
    "line",
    [
        "offsets reset nightly-report --topic payments --to-offset 1",
        "offsets clone nightly-report other",
        "offsets delete nightly-report --topic payments",
        "delete nightly-report",
    ],
)
def test_what_is_only_read_is_never_changed(kohort: Kohort, sample: Path, line: str) -> None:
    def files() -> dict[Path, bytes]:
        return {file: file.read_bytes() for file in sample.rglob("*") if file.is_file()}

    before = files()
    for source in ("--embedded", "--log-dir"):
        refused = kohort.quick(line, source, sample, "--execute", "--yes")
        refused.assert_refused(f"{sample} is read-only, so --execute cannot be used")
        assert kohort.quick(line, source, sample).stdout
    assert files() == before


def test_a_snapshot_gives_a_preview(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "snapshot.yaml"
    file.write_text(
        "kohort: 1\n"
        "topics: {orders: {partitions: 2, end_offsets: {0: 100, 1: 50}}}\n"
        "groups:\n"
        "  payments: {type: classic, state: Empty, offsets: {orders: {0: {offset: 40}, 1: {offset: 50}}}}\n"
    )

    def preview(options: str) -> tuple[int, list[tuple[str, str]], str]:
        answer = kohort.quick(
            f"offsets reset payments --topic orders {options} --snapshot {file} --output csv"
        )
        rows = [(row["NEW-OFFSET"], row.get("REMARK", "")) for row in answer.rows] if answer.stdout else []
        return answer.status, rows, answer.stderr

    assert preview("--to-latest")[:2] == (0, [("100", ""), ("50", "")])
    unchecked = "not checked: the log is unknown from this source"
    assert preview("--shift-by -10")[:2] == (0, [("30", unchecked), ("40", unchecked)])
    assert preview("--to-offset 70")[:2] == (0, [("70", unchecked), ("50", "70 is beyond the end")])
    status, rows, said = preview("--to-earliest")
    assert (status, rows) == (3, [])
    assert "payments, orders-0, orders-1: its earliest offset is not known" in said
    assert "its offset at that time is not known" in preview("--to-datetime -1h")[2]
