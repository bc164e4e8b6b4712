"""`validate-regex` with patterns that do not compile: reason and position, exit status 1."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Kohort


@pytest.mark.parametrize(
    ("pattern", "reason", "position"),
    [
        ("orders-(eu|us", "missing closing )", 7),
        ("orders-[a", "missing closing ]: `[a`", 7),
        ("a**", "invalid nested repetition operator: `**`", 1),
        ("*a", "missing argument to repetition operator: `*`", 0),
        ("^(?!audit).*", "invalid or unsupported Perl syntax: `(?!`", 1),
        (r"a\C", r"invalid escape sequence: `\C`", 1),
        (r"(a)\1", r"invalid escape sequence: `\1`", 3),
        ("a{1001}", "invalid repeat count: `{1001}`", 1),
        ("a\\", "trailing backslash at end of expression", None),
    ],
)
def test_a_pattern_that_does_not_compile(
    kohort: Kohort, pattern: str, reason: str, position: int | None
) -> None:
    answer = kohort.quick("validate-regex", pattern, "--output", "json")
    assert answer.status == 1
    (verdict,) = answer.document["patterns"]
    assert (verdict["pattern"], verdict["valid"]) == (pattern, False)
    assert (verdict["reason"], verdict["position"]) == (reason, position)
    at = "" if position is None else f", at position {position}"
    table = kohort.quick("validate-regex", pattern)
    said, _, _ = table.stdout.partition("\n\n")
    assert said.replace("\n", " ") == f"The regular expression `{pattern}` is invalid: {reason}{at}."
    assert table.stderr == ""


def test_one_bad_pattern_among_good_ones(kohort: Kohort, sample: Path) -> None:
    answer = kohort("validate-regex", "audit-.*", "(", "orders", "--embedded", sample, "--output", "json")
    assert answer.status == 1
    verdicts = answer.document["patterns"]
    assert [verdict["valid"] for verdict in verdicts] == [True, False, True]
    assert [verdict["topics"]["broker"] for verdict in verdicts] == [
        ["audit-eu", "audit-us"], None, ["orders"]
    ]  # fmt: skip


def test_patterns_from_a_file_and_from_stdin(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "patterns"
    file.write_text("a.*\n\n^b$\n", encoding="utf-8")
    answer = kohort("validate-regex", "first", "--file", file, "--output", "csv")
    assert [row["PATTERN"] for row in answer.rows] == ["first", "a.*", "^b$"]
    answer = kohort("validate-regex", "--file", "-", "--output", "csv", stdin="ö\n(\n")
    assert answer.status == 1
    assert [(row["PATTERN"], row["VALID"]) for row in answer.rows] == [("ö", "true"), ("(", "false")]


def test_a_file_of_patterns_that_cannot_be_read(kohort: Kohort, tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    for file, reason in (
        (tmp_path / "no", "No such file or directory"),
        (tmp_path / "latin", "not a text file in UTF-8"),
    ):
        answer = kohort("validate-regex", "--file", file)
        assert (answer.status, answer.stdout) == (3, "")
        assert answer.stderr == f"kohort: {file}: cannot be read: {reason}\n"


@pytest.mark.parametrize("argument", [b"caf\xe9", b"\xff\xfe", b"a\xed\xa0\x80"])
def test_an_argument_that_is_no_text(kohort: Kohort, sample: Path, argument: bytes) -> None:
    commands: list[list[str | bytes]] = [
        ["validate-regex", argument],
        ["list", "--match", argument],
        ["describe", "billing", argument],
        ["plan", argument, "--to", "consumer"],
    ]
    for command in commands:
        answer = kohort(*command, "--embedded", sample)
        assert (answer.status, answer.stdout) == (2, "")
        assert answer.stderr.endswith("is not text in UTF-8\n")
