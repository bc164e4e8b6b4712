"""Snapshots: what one holds reads back as it was written, and a broken file is refused with its line, and soon."""

import json
import time
from contextlib import suppress
from dataclasses import Field, fields, is_dataclass
from enum import Enum
from importlib.resources import files
from itertools import islice
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from groups.model import (
    CommittedOffset,
    Group,
    GroupState,
    GroupType,
    Member,
    MemberProtocol,
    PartitionOffsets,
    Topic,
)
from groups.snapshot import (
    Snapshot,
    parse_snapshot,
    read_snapshot,
    snapshot_from_tree,
    snapshot_text,
    snapshot_tree,
    write_snapshot,
)
from groups.trees import ASCENDING, KEY, UNWRITTEN, Partition
from groups.yaml_files import TreeError, load_tree
from tests.support.long import cases

LOOKS_LIKE_SOMETHING_ELSE = (
    "", " ", "~", "null", "Null", "NULL", "none", "true", "True", "on", "off", "yes", "No", "y", "n", "0123", "0x1F",
    "0o17", "0b1", "1_000", "1e3", ".5", "-1", "+1", ".inf", "-.INF", ".nan", "12:30:45", "2001-01-01", "=", "<<",
    "---", "...", "--- a", "# no comment", "a # b", "a: b", ": ", "- a", "-", "?", "? a", "[]", "[a", "{}", "{a: b}",
    "a, b", "&anchor", "*alias", "!tag", "!!str a", "| a", "> a", "%YAML 1.2", "@", "`", "'", '"', "it's", '"quoted"',
    "\\", "\\n", "back\\slash\\", " leading", "trailing ", "two  blanks", "tab\there", "line\nbreak", "\n", "cr\rlf\n",
    "nul\x00", "\x1b[31mred\x1b[0m", "\x7f", "\x85", "\xa0", "\u2028", "\u2029", "\ufeffbom", "\ufffe", "\uffff", "é",
    "e\u0301", "ß", "日本語のトピック", "🙂", "👩\u200d👩\u200d👧", "\U0010ffff", "עברית", "\u202eright to left",
    "kohort",
)  # fmt: skip
"""Texts that a YAML reader may take for something else, or that steer a terminal."""

LONG = ("a" * 1100, "🙂" * 1100, '"' * 700, "x" * 32_000)
"""A group id may have 32,767 bytes; YAML treats keys of more than 1,024 characters in its own way."""

strange = st.sampled_from(LOOKS_LIKE_SOMETHING_ELSE)
texts = strange | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated and ASCENDING in arguments[1:]:
        numbers = st.lists(values_of(Partition), unique=True, max_size=12)
        return numbers.map(lambda chosen: tuple(sorted(chosen)))
    if origin is Annotated:
        (bounds,) = arguments[1:]
        most = st.integers(bounds.least, bounds.most)
        return st.integers(max(bounds.least, 0), min(bounds.most, 40)) | most
    if origin in (Union, UnionType):
        return st.none() | values_of(arguments[0])
    if origin is tuple:
        key = (lambda member: member.id) if arguments[0] is Member else None
        return st.lists(values_of(arguments[0]), max_size=3, unique_by=key).map(tuple)
    if origin is not None and KEY in [field.metadata for field in fields_of(arguments[1])]:
        names = st.lists(texts, max_size=3, unique=True)
        return names.flatmap(
            lambda keys: st.fixed_dictionaries({key: built(arguments[1], key) for key in keys})
        )
    if hint == PartitionOffsets:
        return offsets_of_a_topic()
    if origin is not None:
        return st.dictionaries(values_of(arguments[0]), values_of(arguments[1]), max_size=3)
    if is_dataclass(hint):
        return built(hint)
    if issubclass(hint, Enum):
        return st.sampled_from(hint)
    return {str: texts, bytes: st.binary(max_size=9), bool: st.booleans(), UUID: st.uuids()}[hint]


def fields_of(kind: Any) -> tuple[Field[Any], ...]:
    return fields(kind) if is_dataclass(kind) else ()


def built(kind: Any, key: str = "") -> st.SearchStrategy[Any]:
    hints = get_type_hints(kind, include_extras=True)
    written = [field for field in fields_of(kind) if field.metadata != UNWRITTEN]
    return st.builds(
        kind,
        **{one.name: st.just(key) if one.metadata == KEY else values_of(hints[one.name]) for one in written},
    )


@st.composite
def offsets_of_a_topic(draw: st.DrawFn) -> PartitionOffsets:
    """Of any partitions; or of most of a topic's first, where most commits fit in lines."""
    if draw(st.booleans()):
        return draw(st.dictionaries(values_of(Partition), built(CommittedOffset), max_size=3))
    epochs = st.none() | st.integers(0, 2**31 - 1)
    plain = st.builds(
        CommittedOffset, offset=st.integers(-1, 2**63 - 1), leader_epoch=epochs, metadata=st.just("")
    )
    numbers = draw(st.lists(st.integers(0, 30), min_size=8, unique=True))
    most = {number: draw(plain) for number in numbers}
    return most | draw(st.dictionaries(st.integers(0, 30), built(CommittedOffset), max_size=2))


def of_offsets(offsets: PartitionOffsets) -> Snapshot:
    group = Group(id="g", type=GroupType.CLASSIC, state=GroupState.EMPTY, offsets={"orders": offsets})
    return Snapshot(groups={"g": group})


snapshots = built(Snapshot) | offsets_of_a_topic().map(of_offsets)
FILE = Path("snapshot")


@pytest.mark.parametrize("as_json", [False, True], ids=["yaml", "json"])
@given(snapshot=snapshots)
@settings(max_examples=cases("KOHORT_EXAMPLES", 15, many=1_000))
def test_what_is_written_is_what_is_read(as_json: bool, snapshot: Snapshot) -> None:
    text = snapshot_text(snapshot, as_json=as_json)
    assert parse_snapshot(FILE, text) == snapshot
    assert snapshot_text(parse_snapshot(FILE, text), as_json=as_json) == text


@given(snapshot=snapshots)
@settings(max_examples=cases("KOHORT_EXAMPLES", 15, many=1_000))
def test_any_reader_of_yaml_or_json_reads_the_same(snapshot: Snapshot) -> None:
    tree = yaml.safe_load(snapshot_text(snapshot))
    assert snapshot_from_tree(tree) == snapshot_from_tree(snapshot_tree(snapshot)) == snapshot
    # JSON has no numbers for keys.
    expected = json.loads(json.dumps(yaml.safe_load(snapshot_text(snapshot))))
    assert json.loads(snapshot_text(snapshot, as_json=True)) == expected
    if expected["kohort"] == 1:
        assert expected == json.loads(json.dumps(snapshot_tree(snapshot)))


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
@pytest.mark.parametrize("text", [*LOOKS_LIKE_SOMETHING_ELSE, *LONG], ids=lambda text: ascii(text)[:20])
def test_a_strange_name_survives_a_file(tmp_path: Path, suffix: str, text: str) -> None:
    file = tmp_path / f"snapshot{suffix}"
    group = Group(
        id=text, type=GroupType.SHARE, state=GroupState.EMPTY,
        members=(Member(id=text, owned={text: (0,)}, protocols=(text, text)),),
        offsets={text: {0: CommittedOffset(offset=1, metadata=text)}},
    )  # fmt: skip
    snapshot = Snapshot(topics={text: Topic(name=text, partitions=1)}, groups={text: group})
    write_snapshot(snapshot, file)
    assert read_snapshot(file) == snapshot
    if suffix == ".yaml":
        assert yaml.safe_load(file.read_text(encoding="utf-8")) == snapshot_tree(snapshot)
    before = file.read_bytes()
    write_snapshot(read_snapshot(file), file)
    assert file.read_bytes() == before


PLAIN = {number: CommittedOffset(offset=number * 7, metadata="") for number in [3, *range(5, 21)]}
MIXED = PLAIN | {
    6: CommittedOffset(offset=-1, leader_epoch=4, metadata=""),
    8: CommittedOffset(offset=56, metadata="note"),
    22: CommittedOffset(offset=None, metadata=""),
}
HEAD = "kohort: 2\ncluster: {}\ntopics: {}\ngroups:\n  g:\n    type: classic\n    state: Empty\n    members: []\n"
LINES = f"""{HEAD}    offsets:
      orders:
        3: "21"
        5: "35 -1@4 49"
        8: {{offset: 56, metadata: note}}
        9: "63"
        10: "70 77 84 91 98 105 112 119 126 133"
        20: "140"
        22: {{offset: null, metadata: ""}}
"""


def test_a_line_has_the_offsets_of_ten_partitions() -> None:
    assert snapshot_text(of_offsets(dict(reversed(MIXED.items())))) == LINES
    assert parse_snapshot(FILE, LINES) == of_offsets(MIXED)
    by_hand = LINES.replace("2\n", "1\n", 1).replace('"63"', "63").replace('"70 77 84', '"70 77  84')
    assert parse_snapshot(FILE, by_hand) == of_offsets(MIXED)
    few = of_offsets(dict(islice(PLAIN.items(), 8)))
    assert snapshot_text(few).startswith("kohort: 1\n")


WRONG = ("", "63@", "63@-2", "1@2147483648", "1@2@3", "1, 2", "9223372036854775808")
WRONG_LINES = {
    **{f'9: "{offsets}"': f"or a mapping with offset; found '{offsets}'" for offsets in WRONG},
    '2147483647: "1 2"': ".2147483647: expected offsets such as 13 or '13 26@4', where 4 is the leader epoch",
    'x: "1"': ".x: expected a whole number, found 'x'",
    '4: "1 2"': "orders: a number is listed twice: 5; list it once",
    '21: "1 2"': "orders: a number is listed twice: 22; list it once",
}


@pytest.mark.parametrize(("line", "found"), WRONG_LINES.items())
def test_a_wrong_line_of_offsets_is_refused(line: str, found: str) -> None:
    with pytest.raises(TreeError) as caught:
        parse_snapshot(FILE, LINES.replace('9: "63"', line))
    assert found in str(caught.value)


def test_a_members_protocol_stays_unknown(tmp_path: Path) -> None:
    # Where a file written by hand leaves the protocol out, the usual one of the group's type is meant.
    member = Member(id="a", protocol=None)
    group = Group(id="g", type=GroupType.CONSUMER, state=GroupState.STABLE, members=(member,))
    write_snapshot(Snapshot(groups={"g": group}), tmp_path / "s.yaml")
    assert read_snapshot(tmp_path / "s.yaml").groups["g"].members == (member,)
    by_hand = parse_snapshot(FILE, "{kohort: 1, groups: {g: {type: consumer, members: [{id: a}]}}}")
    assert by_hand.groups["g"].members[0].protocol is MemberProtocol.CONSUMER


SAMPLE = files("cli.verbs.demo").joinpath("sample.yaml").read_text(encoding="utf-8")
# A group of every kind would make reading the same again and again slow; the head and two groups do.
YAML = SAMPLE[: SAMPLE.index("  checkout:\n")]
JSON = snapshot_text(parse_snapshot(Path("sample.yaml"), YAML), as_json=True)
BOUND_S = 5.0  # Far above what any file of this size takes (0.05 s): only a blow-up gets here


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """The sample with a few bytes changed, lines moved, or an end missing."""
    data = bytearray(draw(st.sampled_from([YAML, JSON, LINES])).encode())
    for _ in range(draw(st.integers(1, 4))):
        how = draw(st.sampled_from(["flip", "insert", "delete", "cut", "swap", "repeat"]))
        position = draw(st.integers(0, max(len(data) - 1, 0)))
        if how == "flip" and data:
            data[position] ^= draw(st.integers(1, 255))
        elif how == "insert":
            marks = [bytes([byte]) for byte in b'\x00\xff{}[!"\t\n~']
            words = [*marks, b"&a ", b"*a", b"? ", b": ", b"- "]
            data[position:position] = draw(st.sampled_from(words) | st.binary(min_size=1, max_size=4))
        elif how == "delete":
            del data[position : position + draw(st.integers(1, 40))]
        elif how == "cut":
            del data[position:]
        else:
            lines = data.splitlines(keepends=True) or [bytearray()]
            one, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
            if how == "swap":
                lines[one], lines[other] = lines[other], lines[one]
            else:
                lines.insert(other, lines[one])
            data = bytearray().join(lines)
    return bytes(data)


@given(data=mutated())
@settings(max_examples=cases("KOHORT_EXAMPLES", 40, many=2_000))
def test_a_mutated_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "mutated.yaml"
    file.write_bytes(data)
    began = time.monotonic()
    with suppress(TreeError):
        # What was taken from it can be shown and kept: it is text that can be encoded.
        snapshot_text(read_snapshot(file)).encode()
    assert time.monotonic() - began < BOUND_S


texts_as_bytes = st.text(max_size=60).map(lambda text: text.encode(errors="surrogatepass"))


@given(data=st.binary(max_size=200) | texts_as_bytes)
@settings(max_examples=cases("KOHORT_EXAMPLES", 50, many=2_000))
def test_any_bytes_are_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "bytes.yaml"
    file.write_bytes(data)
    with pytest.raises(TreeError):
        read_snapshot(file)


HOSTILE = {
    "deep-yaml": "kohort: 1\nx: " + "[" * 100_000,
    "very-deep-json": '{"kohort": 1, "x": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "deep-json-in-a-field": '{"kohort": 1, "topics": ' + '{"a": ' * 900 + "1" + "}" * 900 + "}",
    "laughs": "kohort: 1\na: &a [x, x, x, x, x, x, x, x]\n"
    + "".join(f"{c}: &{c} [{', '.join(['*' + p] * 8)}]\n" for p, c in zip("abcdefghijk", "bcdefghijkl", strict=True))
    + "groups: *l\n",
    "recursive": "kohort: 1\ngroups: &g {a: *g}\n",
    "long-number": "kohort: " + "9" * 100_000,
    "long-partition": "kohort: 1\ntopics: {t: {partitions: 1, end_offsets: {" + "9" * 900 + ": 1}}}\n",
    "half-a-character": '{"kohort": 1, "groups": {"\\ud800": {}}}',
    "half-a-character-in-a-value": '{"kohort": 1, "groups": {"g": {"protocol": "\\udfff"}}}',
    "key-of-another-kind": "kohort: 1\n? [a]\n: b\n",
    "merge": "kohort: 1\ntopics: {<<: {a: 1}}\n",
    "tag": "!!python/object/apply:os.system ['true']\n",
    "two-documents": "kohort: 1\n---\nkohort: 1\n",
    "unended": 'kohort: 1\ntopics: {"a',
    "nan": '{"kohort": NaN}',
    "infinite": '{"kohort": Infinity}',
    "float": '{"kohort": 1.0}',
    "true": '{"kohort": true}',
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "hostile.yaml"
    file.write_text(text, encoding="utf-8")
    began = time.monotonic()
    with pytest.raises(TreeError) as caught:
        read_snapshot(file)
    assert str(caught.value).startswith(str(file))
    assert len(str(caught.value)) < 500
    assert str(caught.value).isprintable()
    assert time.monotonic() - began < BOUND_S


def test_a_file_is_in_memory_once() -> None:
    tree = load_tree(Path("a.yaml"), "kohort: 1\ngroups:\n  a: {state: Stable}\n  b: {state: Stable}\n")
    first, second = tree["groups"]["a"], tree["groups"]["b"]
    assert next(iter(first)) is next(iter(second))
    assert first["state"] is second["state"]
    snapshot = snapshot_from_tree(tree, [], [])
    assert tree["groups"] == {"a": None, "b": None}
    assert {group.state for group in snapshot.groups.values()} == {GroupState.STABLE}
