"""A broken snapshot file is refused with a TreeError, never with another exception, and soon."""

from __future__ import annotations

import time
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groups.snapshot import parse_snapshot, read_snapshot, snapshot_text
from groups.yaml_files import TreeError

SAMPLE = files("cli.verbs.demo").joinpath("sample.yaml").read_text(encoding="utf-8")
# A group of every kind would make reading the same again and again slow; the head and two groups do.
YAML = SAMPLE[: SAMPLE.index("  checkout:\n")]
JSON = snapshot_text(parse_snapshot(Path("sample.yaml"), YAML), as_json=True)
BOUND_S = 5.0
"""Far above what any file of this size takes (0.05 s): only a blow-up gets here."""


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """The sample with a few bytes changed, lines moved, or an end missing."""
    data = bytearray(draw(st.sampled_from([YAML, JSON])).encode())
    for _ in range(draw(st.integers(1, 4))):
        how = draw(st.sampled_from(["flip", "insert", "delete", "cut", "swap", "repeat"]))
        place = draw(st.integers(0, max(len(data) - 1, 0)))
        if how == "flip" and data:
            data[place] ^= draw(st.integers(1, 255))
        elif how == "insert":
            words = [
                b"\x00",
                b"\xff",
                b"{",
                b"}",
                b"[",
                b"&a ",
                b"*a",
                b"? ",
                b": ",
                b"- ",
                b"!",
                b'"',
                b"\t",
                b"\n",
                b"~",
            ]
            data[place:place] = draw(st.sampled_from(words) | st.binary(min_size=1, max_size=4))
        elif how == "delete":
            del data[place : place + draw(st.integers(1, 40))]
        elif how == "cut":
            del data[place:]
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
@settings(max_examples=250)
def test_a_mutated_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "mutated.yaml"
    file.write_bytes(data)
    began = time.monotonic()
    with suppress(TreeError):
        # What was taken from it can be shown and kept: it is text that can be encoded.
        snapshot_text(read_snapshot(file)).encode()
    assert time.monotonic() - began < BOUND_S


@given(
    data=st.binary(max_size=200) | st.text(max_size=60).map(lambda text: text.encode(errors="surrogatepass"))
)
@settings(max_examples=150)
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
