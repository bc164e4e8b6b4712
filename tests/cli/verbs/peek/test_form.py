"""Bytes as JSON, text and hex."""

import json
from base64 import b64decode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.verbs.peek.form import ShownAs, ShownBytes, indented_json
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
    kind, lines = ShownBytes(data, form).kind_and_lines
    assert (kind, list(lines)) == FORMS[data, form]


def test_a_cut_may_be_inside_of_a_character_or_of_json() -> None:
    assert ShownBytes("aé".encode(), AUTO, limit=2).kind_and_lines == ("text", ("a",))
    assert ShownBytes("aé".encode()[:2], AUTO).kind_and_lines[0] == "hex"
    assert ShownBytes(b'{"a": 1}', AUTO, limit=7).kind_and_lines == ("text", ('{"a": 1',))
    forms = ((b"\xff\x00", AUTO), (b"\xff", TEXT), (b"ab", HEX))
    assert [ShownBytes(data, form).in_line for data, form in forms] == ["ff 00", "\\xff", "61 62"]


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
    shown = ShownBytes(data, form, size=len(data) + is_cut)
    kind, lines = shown.kind_and_lines
    if kind.startswith("hex"):
        assert bytes.fromhex("".join(line[8:55] for line in lines)) == data
    elif kind.startswith("text") and form is not TEXT and not is_cut:
        assert "\n".join(lines) == data.decode().replace("\r\n", "\n").removesuffix("\n")
    encoding, text = shown.encoded
    read = {"hex": bytes.fromhex, "base64": b64decode, "utf-8": str.encode}[encoding](text)
    assert read == data if not is_cut or encoding != "utf-8" else data.startswith(read)
