"""The lines of the journal's files: written, read, cut off, edited, and made up."""

import json
import os
import resource
import stat
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.errors import UsageError
from cli.journal.directory import file_name, journal_directory
from cli.journal.entry import (
    ChangedItem,
    EntryEnd,
    EntryStatus,
    ItemKind,
    ItemOutcome,
    JournalEntry,
    line_of,
    paired,
    read_line,
)
from cli.journal.reader import find_entry, read_journal, undone_by
from cli.journal.recording import without_secrets
from cli.journal.writer import JournalFile, NotJournaled, OpenEntry
from groups.trees import Malformed
from tests.cli.journal.entries import DAY, edited, end_of, entry_of, offset_of, write_journal
from tests.support.long import cases

FUZZED = settings(max_examples=cases("KOHORT_FUZZ_CASES", 40, many=20_000), deadline=None)
DONE, FAILED, UNKNOWN = ItemOutcome.DONE, ItemOutcome.FAILED, ItemOutcome.UNKNOWN
TEXTS = st.one_of(st.none(), st.text(max_size=8))
VALUES = st.one_of(st.none(), st.integers(-(2**63), 2**63), st.text(max_size=8))
ITEMS = st.builds(
    ChangedItem, kind=st.sampled_from(ItemKind), group=TEXTS, topic=TEXTS, topic_id=st.none() | st.uuids(),
    partition=st.none() | st.integers(0, 2**31 - 1), name=TEXTS, before=VALUES, after=VALUES,
    leader_epoch=st.none() | st.integers(-1, 2**31 - 1), metadata=TEXTS,
)  # fmt: skip


@given(items=st.lists(ITEMS, max_size=3), words=st.lists(st.text(max_size=8), max_size=3), user=st.text())
def test_what_is_written_is_read_again(items: list[ChangedItem], words: list[str], user: str) -> None:
    entry = entry_of(7, *items, command=tuple(words), user=user)
    end = end_of(entry, status=EntryStatus.STOPPED)
    for part in (entry, end):
        line = line_of(part)
        assert (line.count(b"\n"), line[-1:]) == (1, b"\n")
        assert read_line(line) == part


@FUZZED
@given(st.one_of(st.binary(max_size=60), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ("kohort", "entry", "at", "ended", "items", "results", "status", "kind", "result", "before", "pid", "command")
    ), inner, max_size=8), max_leaves=12,
).map(lambda tree: json.dumps(tree).encode())))  # fmt: skip
def test_any_line_is_an_entry_or_malformed(line: bytes) -> None:
    assert isinstance(_read(line), JournalEntry | EntryEnd | str)


def _read(line: bytes) -> JournalEntry | EntryEnd | str:
    try:
        return read_line(line)
    except Malformed as error:
        return str(error)


@FUZZED
@given(st.data())
def test_an_entry_with_any_value_replaced_is_read_or_malformed(data: st.DataObject) -> None:
    entry = entry_of()
    part = data.draw(st.sampled_from(list[JournalEntry | EntryEnd]([entry, end_of(entry)])))
    name = data.draw(st.sampled_from(sorted(json.loads(line_of(part)))))
    value = data.draw(st.sampled_from([0, -1, 2**70, 1.5, True, "", "x", [], {}, [{}], [[]], {"kind": 1}]))
    read = _read(edited(part, **{name: value}))
    assert not isinstance(read, str) or name in read or name == "kohort"


@FUZZED
@given(st.data())
def test_broken_bytes_are_problems_and_lines_without_them_are_read(data: st.DataObject) -> None:
    entries = [entry_of(number) for number in range(3)]
    whole = b"".join(line_of(part) for entry in entries for part in (entry, end_of(entry)))
    broken = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 5))):
        broken[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    with TemporaryDirectory() as directory:
        write_journal(Path(directory), bytes(broken))
        read, problems = read_journal(Path(directory))
    lines = bytes(broken).split(b"\n")
    untouched = {entry.id for entry in entries if line_of(entry)[:-1] in lines}
    assert untouched <= {entry.id for entry, _ in read}
    assert problems or len(read) == 3


def test_every_cut_of_the_last_line_leaves_the_rest(tmp_path: Path) -> None:
    first, last = entry_of(1), entry_of(2)
    whole = line_of(last)
    for length in range(1, len(whole) - 1, 7):
        file = tmp_path / DAY
        file.unlink(missing_ok=True)
        write_journal(tmp_path, first, end_of(first), whole[:length])
        entries, problems = read_journal(tmp_path)
        assert [entry.id for entry, _ in entries] == [first.id]
        (problem,) = problems
        assert (problem.subject, "cut off" in problem.message) == (f"{file}, line 3", True)


EDITED: dict[str, dict[str, object]] = {
    "written by a newer Kohort (format 2): update Kohort": {"kohort": 2},
    "kohort: expected 1": {"kohort": "one"},
    "items: is missing": {"items": None},
    "pid: expected a whole number": {"pid": "seven"},
    "entry: expected 8 hexadecimal digits": {"entry": "../4F2A"},
    "at: 'yesterday'": {"at": "yesterday"},
    "at: '15m' is not a time": {"at": "15m"},
    "items[0].kind: expected one of offset, setting": {"items": [{"kind": "thing"}]},
    "verbs: unknown field; did you mean verb?": {"verb": None, "verbs": "delete"},
}


@pytest.mark.parametrize("reason", EDITED)
def test_an_edited_line_is_named_and_the_rest_is_read(tmp_path: Path, reason: str) -> None:
    other = entry_of(2)
    file = write_journal(tmp_path, edited(entry_of(1), **EDITED[reason]), other, end_of(other))
    entries, (problem, *_) = read_journal(tmp_path)
    assert [entry.id for entry, _ in entries] == [other.id]
    assert (problem.subject, problem.message[: len(reason)]) == (f"{file}, line 1", reason)


def test_a_field_of_a_later_kohort_is_ignored() -> None:
    assert read_line(edited(entry_of(), ticket="OPS-1")) == entry_of()


def test_files_of_several_hosts_are_one_journal(tmp_path: Path) -> None:
    early, late = entry_of(2, at="2026-11-28T23:59:59Z"), entry_of(1)
    write_journal(tmp_path, late)
    write_journal(tmp_path, early, end_of(early), end_of(entry_of(3)), name="db-2026-11-28.jsonl")
    (tmp_path / "notes.txt").write_text("nothing of a journal")
    (tmp_path / "dir.jsonl").mkdir()
    entries, problems = read_journal(tmp_path)
    assert [(entry.id, end is None) for entry, end in entries] == [(early.id, False), (late.id, True)]
    messages = sorted(problem.message for problem in problems)
    assert messages[0].startswith("cannot be read: Is a directory")
    assert messages[1].startswith("the beginning of the entry 00000003 is missing")
    assert read_journal(tmp_path / "none") == ([], [])


def test_an_entry_is_found_by_its_first_digits() -> None:
    entries = [(entry_of(number), None) for number in (0x4F2A91C3, 0x4F2A0000, 0xAAAA0000)]
    assert find_entry(entries, "aaaa")[0].id == "AAAA0000"
    assert find_entry(entries, "4F2A9")[0].id == "4F2A91C3"
    for prefix, reason in (
        ("4F2A", "several"),
        ("4F", "at least 4"),
        ("BBBB", "no entry"),
        ("-x; rm", "at least"),
    ):
        with pytest.raises(UsageError, match=reason):
            find_entry(entries, prefix)


def test_an_undo_counts_if_it_restored_something_and_is_not_undone() -> None:
    first, second, third = entry_of(1), entry_of(2, undoes="00000001"), entry_of(3, undoes="00000002")
    assert undone_by([(first, None), (second, end_of(second))]) == {first.id: second.id}
    assert undone_by([(first, None), (second, end_of(second, FAILED))]) == {}
    three = [(first, None), (second, end_of(second)), (third, end_of(third))]
    assert undone_by(three) == {second.id: third.id}


def test_items_without_a_result_are_unknown() -> None:
    entry = entry_of(1, offset_of(0), offset_of(1))
    assert [result.result for _, result in paired(entry, None)] == [UNKNOWN, UNKNOWN]
    assert [result.result for _, result in paired(entry, end_of(entry, DONE))] == [DONE, UNKNOWN]
    assert [result.result for _, result in paired(entry, end_of(entry, DONE, FAILED, DONE))] == [DONE, FAILED]


def test_where_the_journal_is(tmp_path: Path) -> None:
    state = {"XDG_STATE_HOME": str(tmp_path), "HOME": "/home/x"}
    assert journal_directory(None, state) == tmp_path / "kohort"
    assert journal_directory(None, {**state, "KOHORT_JOURNAL": "off"}) is None
    assert journal_directory(None, {**state, "KOHORT_JOURNAL": "/shared"}) == Path("/shared")
    assert journal_directory(Path("own"), {**state, "KOHORT_JOURNAL": "off"}) == Path("own")
    for variables in ({**state, "KOHORT_JOURNAL": " "}, {"HOME": ""}):
        with pytest.raises(UsageError):
            journal_directory(None, variables)


@pytest.mark.parametrize(
    ("directory", "file"), [(None, 0o600), (0o700, 0o600), (0o755, 0o600), (0o2770, 0o660)]
)
def test_permissions_are_the_owners_or_those_of_a_shared_directory(
    tmp_path: Path, directory: int | None, file: int
) -> None:
    place = tmp_path / "journal"
    if directory is not None:
        place.mkdir()
        place.chmod(directory)
    mask = os.umask(0o077)
    try:
        journal = JournalFile(place, "ops")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(place.stat().st_mode) == (directory or 0o700)
    assert stat.S_IMODE(journal.path.stat().st_mode) == file
    journal.path.chmod(0o640)
    JournalFile(place, "ops").append(b"{}\n")
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o640


def test_nothing_is_appended_to_a_link_a_pipe_or_a_full_disk(tmp_path: Path) -> None:
    path = JournalFile(tmp_path, "ops").path
    path.unlink()
    path.symlink_to("elsewhere")
    with pytest.raises(NotJournaled, match="--no-journal"):
        JournalFile(tmp_path, "ops")
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(NotJournaled, match="it is not a regular file"):
        JournalFile(tmp_path, "ops")
    with pytest.raises(NotJournaled):
        JournalFile(Path("/proc/none"), "ops")


def test_a_line_for_which_there_is_no_room_is_an_error_and_the_next_one_is_whole(tmp_path: Path) -> None:
    journal, (soft, hard) = JournalFile(tmp_path, "ops"), resource.getrlimit(resource.RLIMIT_FSIZE)
    entry = entry_of(1)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, hard))  # what a full disk does: a part is written
    try:
        with pytest.raises(NotJournaled, match="No space left on device; nothing was changed"):
            OpenEntry(journal, entry)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert journal.path.stat().st_size == 20
    assert OpenEntry(journal, entry).end(EntryStatus.DONE, end_of(entry).results) is None
    entries, problems = read_journal(tmp_path)
    assert ([(entry.id, end is not None) for entry, end in entries], len(problems)) == ([(entry.id, True)], 1)


def test_an_end_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    journal = JournalFile(tmp_path, "ops")
    entry = OpenEntry(journal, entry_of(3))
    journal.path.unlink()
    journal.path.mkdir()
    message = entry.end(EntryStatus.DONE, ()) or ""
    assert message.startswith(f"{journal.path}: the result of the entry 00000003 cannot be written")


def test_the_file_has_the_name_of_the_host_and_the_day() -> None:
    from datetime import UTC, datetime

    day = datetime(2026, 11, 29, 23, 59, tzinfo=UTC)
    assert file_name("db-7.example", day) == "db-7.example-2026-11-29.jsonl"
    assert file_name("../x y", day) == ".._x_y-2026-11-29.jsonl"


WORDS = {
    "kohort migrate p.yaml --restart 'ssh {} -p pw' -b h:1": "kohort migrate p.yaml --restart *** -b h:1",
    "x --password hunter2 --topic t": "x --password *** --topic t",
    "x --setting ssl.key.password=hunter2": "x --setting ssl.key.password=***",
    "x sasl.jaas.config='a b password=\"c\";'": "x sasl.jaas.config=***",
    "x --url https://carol:pw@host/p": "x --url https://***@host/p",
    "x 'curl -H Authorization:token=abc --api-key k1 z'": "x 'curl -H Authorization:token=*** --api-key *** z'",
    "x --token-file /run/t --to-latest": "x --token-file /run/t --to-latest",
    "kohort offsets reset token-service --topic secrets": "kohort offsets reset token-service --topic secrets",
    "x --command-config client.properties --restart='a b'": "x --command-config client.properties --restart=***",
}


@pytest.mark.parametrize("line", WORDS)
def test_secrets_of_a_command_line_are_hidden(line: str) -> None:
    import shlex

    assert list(without_secrets(shlex.split(line))) == shlex.split(WORDS[line])
