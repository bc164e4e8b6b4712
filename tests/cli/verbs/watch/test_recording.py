"""Recordings: they read back as written; damaged ones are refused by file and line."""

import json
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.verbs.watch import recording
from cli.verbs.watch.event_text import event_lines
from cli.verbs.watch.picture import stories
from cli.verbs.watch.state import WatchObservation, WatchState
from groups.model import GroupType, Problem, Topic, UserData
from tests.cli.command import Kohort
from tests.cli.schemas import faults
from tests.cli.verbs.watch.groups import TOPICS, group, groups, member

HEADER = recording.Header(at_ms=1_000, groups=("g",), source="here", every_ms=500)
SLOW_FILES = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50
)


@st.composite
def courses(draw: st.DrawFn) -> list[WatchObservation]:
    """Looks one after the other; some reach nothing."""
    observations: list[WatchObservation] = []
    at_ms = 1_700_000_000_000
    for view in draw(st.lists(groups(), min_size=1, max_size=5)):
        at_ms += draw(st.integers(1, 20_000))
        ends = draw(st.dictionaries(st.integers(0, 3), st.none() | st.integers(0, 9)))
        reached = draw(st.integers(0, 4)) > 0
        observations.append(
            WatchObservation(
                asked_ms=at_ms - 1,
                at_ms=at_ms,
                groups={"g": view} if reached else {},
                topics={name: Topic(name=name, partitions=4, end_offsets=ends) for name in TOPICS}
                if reached
                else {},
                problems=() if reached else (Problem(subject="here", message="no answer\x1b[2J"),),
            )
        )
    return observations


def written(file: Path, observations: Sequence[WatchObservation]) -> Path:
    """A recording of them."""
    documents = [recording.header_document(HEADER), *map(recording.observation_document, observations)]
    file.write_text("".join(map(recording.line_of, documents)))
    return file


def view_of(observations: Sequence[WatchObservation]) -> list[object]:
    """Every event, as a line and as a document."""
    state = WatchState()
    shown: list[object] = []
    for observation in observations:
        state, happened = state.step(observation)
        shown += event_lines(happened, state.labels, commits=True)
        documents = [recording.event_document(event, state.labels) for event in happened]
        assert [fault for document in documents for fault in faults(document)] == []
        shown += documents
    return shown


@SLOW_FILES
@given(observations=courses())
def test_a_recording_reads_back_as_it_was(tmp_path: Path, observations: list[WatchObservation]) -> None:
    documents = [recording.header_document(HEADER), *map(recording.observation_document, observations)]
    assert [
        fault for document in documents for fault in faults(json.loads(recording.line_of(document)))
    ] == []
    read = recording.read_recording(written(tmp_path / "r", observations))
    assert read.header == HEADER
    assert read.notices == ()
    assert list(read.observations) == observations
    assert view_of(read.observations) == view_of(observations)
    assert [story.group for story in stories(read)] == (
        ["g"] if any(observation.groups for observation in observations) else []
    )


@SLOW_FILES
@given(observations=courses(), data=st.data())
def test_a_damaged_file_is_refused_or_read_and_nothing_else(
    tmp_path: Path, observations: list[WatchObservation], data: st.DataObject
) -> None:
    good = written(tmp_path / "r", observations).read_bytes()
    for _ in range(5):
        bad = bytearray(good)
        for _ in range(data.draw(st.integers(1, 3))):
            start = data.draw(st.integers(0, len(bad) - 1))
            bad[start : start + data.draw(st.integers(0, 9))] = data.draw(
                st.binary(max_size=3)
                | st.sampled_from([b"null", b"-1", b'"\\ud800"', b"{}", b"[", b"9" * 30])
            )
        file = tmp_path / "bad"
        file.write_bytes(bad)
        refused = refusal_of(file)
        assert refused is None or refused.startswith(str(file))


def refusal_of(file: Path) -> str | None:
    """Why a file is no recording; None where it is one, which can be shown."""
    try:
        view_of(recording.read_recording(file).observations)
    except recording.RecordingError as error:
        return str(error)
    return None


LOOK = WatchObservation(asked_ms=1_000, at_ms=1_001, groups={"g": group(member("a", orders=(0, 1)), epoch=1)})


def lines(*observations: WatchObservation) -> list[str]:
    return [
        recording.line_of(recording.header_document(HEADER)),
        *(recording.line_of(recording.observation_document(observation)) for observation in observations),
    ]


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_torn_last_line_is_left_out_and_said(kohort: Kohort, tmp_path: Path, cut: int) -> None:
    file = tmp_path / "torn"
    file.write_text("".join(lines(LOOK, LOOK))[:-cut])
    answer = kohort.quick("watch --replay", file, "--output", "json").succeeded()
    count = 3 if cut == 1 else 2  # without its line end alone the line is whole
    assert len(answer.stdout.splitlines()) == count
    torn = f"kohort: {file}:3: the last line is incomplete; skipped\n"
    assert answer.stderr == ("" if cut == 1 else torn)


def changed(position: int, **fields: object) -> list[str]:
    """The lines of a recording with other fields in one of them."""
    reported = lines(LOOK, LOOK)
    reported[position] = json.dumps({**json.loads(reported[position]), **fields}) + "\n"
    return reported


@pytest.mark.parametrize(
    ("reported", "message"),
    [
        ([], "empty"),
        (["\n"], "empty"),
        (lines(), "contains no observation"),
        (["no json\n"], "{file}:1: not a JSON document"),
        (['{"kohort": 1, "command": "list"}\n'], "{file}:1: not a line of a recording; "),
        (["[1]\n"], "{file}:1: not a line of a recording"),
        (lines(LOOK)[1:], "{file}:1: a recording starts with its header"),
        ([*lines(LOOK), "torn{\n", *lines(LOOK)[1:]], "{file}:3: not a JSON document"),
        (changed(1, kohort=2), "{file}:2: format 2 is newer"),
        (changed(1, kohort="1"), "{file}:2: kohort: expected the format version"),
        (changed(2, at="yesterday"), "{file}:3: at: 'yesterday' is not a time"),
        (changed(1, asked=None), "{file}:2: asked: 'None' is not a time"),
        (changed(1, groups=[]), "{file}:2: groups: expected groups by id"),
        (changed(1, groups={"g": {"state": "Sable"}}), "{file}:2: groups.g.state: expected one of "),
        (changed(1, groups={"g": {"members": [{"owned": {"t": [-1]}}]}}), "{file}:2: groups.g.members"),
        (changed(1, topics={"t": {"partitions": "many"}}), "{file}:2: topics.t.partitions: expected a whole number"),
        (changed(1, errors=["no"]), "{file}:2: errors[0]: expected a mapping with subject, message"),
        (["\x00" * 10 + "\n"], "{file}:1: not a JSON document"),
        (["{" * 100_000 + "\n"], "{file}:1: not a JSON document"),
        (["[" * 100_000 + "\n"], "{file}:1: not a JSON document"),
        ([*lines(LOOK), "\udcff\udcfe\n"], "{file}:3: not a text in UTF-8 (byte 0 of the line)"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_said(
    kohort: Kohort, tmp_path: Path, reported: list[str], message: str
) -> None:
    file = tmp_path / "wrong"
    file.write_text("".join(reported), errors="surrogateescape")
    kohort.quick("watch --replay", file).assert_refused(message.format(file=file), status=3)


def test_a_file_that_cannot_be_read(kohort: Kohort, tmp_path: Path) -> None:
    for file in (tmp_path / "missing", tmp_path):
        answer = kohort.quick("watch --replay", file)
        assert (answer.status, answer.traceback) == (3, False)
        assert f"{file}: cannot be read: " in answer.stderr


def test_unknown_kinds_and_fields_of_a_later_kohort_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "later"
    later = json.dumps({"kohort": 1, "command": "watch", "kind": "mood", "at": "x"}) + "\n"
    file.write_text("".join([*changed(1, mood="good"), later]))
    assert len(recording.read_recording(file).observations) == 2


def test_some_groups_of_a_recording(kohort: Kohort, tmp_path: Path) -> None:
    both = replace(LOOK, groups={**LOOK.groups, "other": None})
    file = written(tmp_path / "r", [both])
    assert [observation.groups for observation in recording.read_recording(file, ["other"]).observations] == [
        {"other": None}
    ]
    kohort.quick("watch missing --replay", file).assert_said(
        3, "the recording does not contain missing, but g"
    )


def test_a_recording_is_for_its_owner_alone_and_is_not_overwritten(
    kohort: Kohort, sample: Path, tmp_path: Path
) -> None:
    file = tmp_path / "r.ndjson"
    words = ["watch", "fraud", "--embedded", str(sample), "--for", "0", "--record", str(file)]
    assert kohort.quick(*words).status == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_bytes()
    kohort.quick(*words).assert_said(2, f"{file} exists already")
    assert file.read_bytes() == before
    assert kohort.quick(*words, "--force").status == 0
    assert len(file.read_bytes().splitlines()) == 2


def test_nothing_is_recorded_of_what_cannot_be_read(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "r.ndjson"
    answer = kohort.quick("watch g --embedded", tmp_path, "--record", file)
    assert answer.status == 3
    assert not file.exists()


def test_a_full_disk_is_said(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    answer = kohort.quick(f"watch fraud --embedded {sample} --for 0 --record /dev/full --force")
    answer.assert_said(3, "/dev/full: cannot be written: No space left on device")
    answer = kohort.quick("watch fraud --embedded", sample, "--record", tmp_path / "no" / "where")
    answer.assert_said(3, "cannot be written: No such file or directory")


def test_user_data_of_assignors_is_not_recorded() -> None:
    one = replace(member("a", orders=(0,)), user_data=UserData(assignment=b"bulky"))
    assert "user_data" not in json.dumps(
        recording.observation_document(replace(LOOK, groups={"g": group(one)}))
    )


def test_what_kafka_streams_wrote_is_recorded() -> None:
    one = replace(member("a", orders=(0,)), user_data=UserData(assignment=b"tasks"))
    streams = replace(group(one), type=GroupType.CLASSIC, protocol="stream")
    document: Any = recording.observation_document(replace(LOOK, groups={"g": streams}))
    assert document["groups"]["g"]["members"][0]["user_data"] == {
        "subscription": "",
        "assignment": "dGFza3M=",
    }
