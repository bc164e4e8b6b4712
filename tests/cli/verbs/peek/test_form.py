"""Bytes as JSON, text and hex."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.verbs.peek.form import ShownAs, in_line, indented_json, shown_bytes, utf8
from tests.support.long import cases

AUTO, TEXT, JSON, HEX = ShownAs
FORMS = {
    (b"plain", AUTO): ("text", ["plain"]),
    (b'{"a": 1.10,\t"a":[ ],"b":[{}, "x{,\\""]}', AUTO): (
        "JSON", ["{", '  "a": 1.10,', '  "a": [],', '  "b": [', "    {},", '    "x{,\\""', "  ]", "}"],
    ),
    (b"42", AUTO): ("text", ["42"]),
    (b"42", JSON): ("JSON", ["42"]),
    (b"{'a': 1}", JSON): ("text, not JSON", ["{'a': 1}"]),
    (b"[" * 2_000, AUTO): ("text", ["[" * 2_000]),
    (b"a\r\nb\n", AUTO): ("text", ["a", "b"]),
    (b"a\x1b[2J", AUTO): ("hex", ["000000  61 1b 5b 32 4a                                   a.[2J"]),
    (b"a\xff", TEXT): ("text", ["a\\xff"]),
    (b"\0\0\0\1\2x", AUTO): (
        "hex, with schema id 258 if a Schema Registry's client wrote it",
        ["000000  00 00 00 01 02 78                                .....x"],
    ),
    ("é".encode(), HEX): ("hex", ["000000  c3 a9                                            .."]),
}  # fmt: skip


@pytest.mark.parametrize(("data", "form"), FORMS, ids=repr)
def test_the_form_of_bytes(data: bytes, form: ShownAs) -> None:
    shown = shown_bytes(data, form)
    assert (shown.kind, list(shown.lines)) == FORMS[data, form]


def test_a_cut_may_be_inside_of_a_character_or_of_json() -> None:
    assert shown_bytes("aé".encode()[:2], AUTO, is_cut=True).lines == ("a",)
    assert shown_bytes("aé".encode()[:2], AUTO).kind == "hex"
    assert shown_bytes(b'{"a": 1', AUTO, is_cut=True).lines == ('{"a": 1',)
    assert (in_line(b"\xff\x00", AUTO), in_line(b"\xff", TEXT), in_line(b"ab", HEX)) == (
        "ff 00",
        "\\xff",
        "61 62",
    )


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=cases("KOHORT_FUZZ_CASES", 60, many=5_000))
@given(JSON_VALUES, st.booleans())
def test_json_is_indented_as_python_does(value: object, is_ascii: bool) -> None:
    lines = indented_json(json.dumps(value, ensure_ascii=is_ascii))
    assert lines is not None
    assert "\n".join(lines) == json.dumps(value, ensure_ascii=is_ascii, indent=2)


@settings(max_examples=cases("KOHORT_FUZZ_CASES", 60, many=20_000))
@given(st.binary(max_size=80), st.sampled_from(ShownAs), st.booleans())
def test_any_bytes_have_lines_that_lose_nothing(data: bytes, form: ShownAs, is_cut: bool) -> None:
    shown = shown_bytes(data, form, is_cut=is_cut)
    if shown.kind.startswith("hex"):
        assert bytes.fromhex("".join(line[8:55] for line in shown.lines)) == data
    elif shown.kind.startswith("text") and form is not TEXT and not is_cut:
        assert "\n".join(shown.lines) == data.decode().replace("\r\n", "\n").removesuffix("\n")
    text = utf8(data)
    assert text is None or text.encode() == data
