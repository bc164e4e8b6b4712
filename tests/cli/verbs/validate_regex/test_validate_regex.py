"""`validate-regex`: what does not compile, what a group would lose and gain, and the pattern to use instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Answer, Kohort

TOPICS = ("orders", "orders-1", "audit-eu", "topic", "topic-1", "my-topic", "__consumer_offsets")


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    file = tmp_path / "topics"
    file.write_text("\n".join(TOPICS) + "\n")
    return file


def _ask(kohort: Kohort, *arguments: str | Path) -> tuple[Answer, list[dict[str, Any]]]:
    answer = kohort.quick("validate-regex", *arguments, "--output", "json")
    assert not answer.traceback, answer.stderr
    patterns: list[dict[str, Any]] = answer.document["patterns"]
    return answer, patterns


def test_librdkafka_searches_and_the_broker_does_not(kohort: Kohort, topics: Path) -> None:
    answer, (verdict,) = _ask(kohort, "^topic", "--from", "librdkafka", "--topics", topics)
    assert answer.status == 1
    assert verdict["topics"] == {
        "client": ["topic", "topic-1"], "broker": ["topic"], "gained": [], "lost": ["topic-1"],
    }  # fmt: skip
    assert (verdict["always_same"], verdict["examples"]) == (False, {"gained": None, "lost": "topica"})
    assert verdict["rewrite"] == "^topic.*"
    answer, (verdict,) = _ask(kohort, verdict["rewrite"], "--from", "librdkafka", "--topics", topics)
    assert answer.status == 0
    assert (verdict["topics"]["lost"], verdict["always_same"], verdict["rewrite"]) == ([], True, None)


def test_what_does_not_begin_with_a_caret_is_a_name_to_librdkafka(kohort: Kohort, topics: Path) -> None:
    answer, (name, missing, bad) = _ask(
        kohort, "topic", "my.topic", "(", "--from", "librdkafka", "--topics", topics
    )
    assert answer.status == 0
    assert [one["literal"] for one in (name, missing, bad)] == [True] * 3
    assert name["topics"] == {"client": ["topic"], "broker": ["topic"], "gained": [], "lost": []}
    assert missing["topics"] == {"client": [], "broker": [], "gained": [], "lost": []}


def test_a_java_look_ahead_becomes_alternatives(kohort: Kohort, topics: Path) -> None:
    answer, (verdict,) = _ask(kohort, "(?!audit|__).*", "--from", "java", "--topics", topics)
    assert answer.status == 1
    assert (verdict["valid"], verdict["position"], verdict["dangerous"]) == (False, 0, None)
    kept = ["my-topic", "orders", "orders-1", "topic", "topic-1"]
    assert verdict["topics"] == {"client": kept, "broker": None, "gained": [], "lost": kept}
    answer, (instead,) = _ask(kohort, verdict["rewrite"], "--from", "java", "--topics", topics)
    assert answer.status == 0
    assert instead["topics"]["broker"] == kept


def test_the_broker_matches_internal_topics_too(kohort: Kohort, topics: Path) -> None:
    answer, (verdict,) = _ask(kohort, ".*", "--from", "java", "--topics", topics)
    assert answer.status == 1
    assert verdict["topics"]["gained"] == ["__consumer_offsets"]
    assert _ask(kohort, "[^_].*", "--from", "java", "--topics", topics)[0].status == 0
    assert _ask(kohort, "^.*", "--from", "librdkafka", "--topics", topics)[0].status == 0


def test_without_topics_it_is_reported_by_example(kohort: Kohort) -> None:
    answer, (verdict,) = _ask(kohort, "^topic", "--from", "librdkafka")
    assert (answer.status, verdict["topics"]["lost"], verdict["examples"]["lost"]) == (1, None, "topica")
    shown = kohort.quick("validate-regex", "^topic", "--from", "librdkafka").stdout.replace("\n", " ")
    assert "Under the consumer protocol `^topic` no longer matches names such as `topica`." in shown
    assert "Subscribe to `^topic.*` instead" in shown


def test_what_is_unknown_is_named(kohort: Kohort, topics: Path) -> None:
    answer, (verdict,) = _ask(kohort, r"[^a[b]]+", "--from", "java", "--topics", topics)
    assert answer.status == 3
    assert verdict["flagged"] == ["a negated class with a set operation, which Java 8 reads otherwise"]
    assert verdict["topics"]["client"] is None
    assert "unknown what the consumer matches: a negated class" in answer.stderr
    answer, (verdict,) = _ask(kohort, r"(a)\1", "--from", "java", "--topics", topics)
    assert (answer.status, verdict["flagged"]) == (1, ["back reference"])


def test_what_the_client_does_not_take(kohort: Kohort) -> None:
    answer, (java,) = _ask(kohort, "(?P<n>a)", "--from", "java")
    assert (answer.status, java["valid"], java["client_reason"]) == (1, True, "Unknown inline modifier")
    answer, (c,) = _ask(kohort, "^(?:a)", "--from", "librdkafka")
    assert (answer.status, c["valid"]) == (1, True)
    assert c["client_reason"]


@pytest.mark.parametrize("client", [[], ["--from", "java"], ["--from", "librdkafka"]])
def test_dangerous_to_the_broker(kohort: Kohort, topics: Path, client: list[str]) -> None:
    pattern = "^((a{1000}){1000}){1000}"
    answer, (verdict,) = _ask(kohort, pattern, *client, "--topics", topics)
    assert answer.status == 1
    assert (verdict["valid"], verdict["dangerous"], verdict["topics"]["broker"]) == (True, True, None)
    assert "instructions" in verdict["danger"]


def test_regexes_of_one_subscription_are_joined(kohort: Kohort) -> None:
    answer = _ask(kohort, "^a.*", "b", "^c.*", "--from", "librdkafka")[0]
    assert answer.status == 0
    assert answer.document["joined"] == {
        "pattern": "(^a.*)|(^c.*)", "valid": True, "reason": None, "dangerous": False,
    }  # fmt: skip
    long = "^" + "a" * 20_000 + ".*"
    answer = _ask(kohort, long, long.replace("a", "b"), "--from", "librdkafka")[0]
    assert answer.status == 1
    assert answer.document["joined"]["reason"].startswith("longer than 32767 bytes")
    assert _ask(kohort, "a", "b", "--from", "java")[0].document["joined"] is None


def test_topics_out_of_a_source(kohort: Kohort, sample: Path) -> None:
    answer, (verdict,) = _ask(kohort, "^audit", "--from", "librdkafka", "--embedded", sample)
    assert answer.status == 1
    assert verdict["topics"]["lost"] == ["audit-eu", "audit-us"]


@pytest.mark.parametrize(
    "text",
    [
        "orders\n\n audit-eu \r\norders-1 - marked for deletion\n",
        "Topic: orders\tTopicId: abc\tPartitionCount: 1\n\tTopic: orders\tPartition: 0\nTopic: audit-eu\tTopicId: x\n"
        "Topic: orders-1\tTopicId: y\n",
        "kohort: 1\ntopics: {orders: {partitions: 1}, audit-eu: {}, orders-1: {}}\n",
        '{"orders": "id", "audit-eu": "id", "orders-1": "id"}',
        '{"topics": {"orders": {"partitions": 1}, "audit-eu": {}, "orders-1": {}}}',
        '["orders", "audit-eu", "orders-1"]',
        "- orders\n- audit-eu\n- orders-1\n",
    ],
    ids=["list", "describe", "snapshot", "mapping", "topics", "JSON list", "YAML list"],
)
def test_files_of_topics(kohort: Kohort, tmp_path: Path, text: str) -> None:
    file = tmp_path / "topics"
    file.write_text(text)
    assert _ask(kohort, ".*s.*", "--topics", file)[1][0]["topics"]["broker"] == ["orders", "orders-1"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"caf\xe9\n", "cannot be read: not a text file in UTF-8"),
        (b"", "lists no topic"),
        (b"orders\nmy topic!\n", "'my topic!' is not a valid topic name"),
        (b"[1 2]", "is not a valid topic name"),
        (b'["a b"]', "'a b' is not a valid topic name"),
        (b"a" * 250, "is not a valid topic name"),
    ],
)
def test_files_that_name_no_topics(
    kohort: Kohort, tmp_path: Path, content: bytes | None, reason: str
) -> None:
    file = tmp_path / "topics"
    if content is not None:
        file.write_bytes(content)
    kohort.quick("validate-regex a --topics", file).assert_refused(f"kohort: {file}", reason, status=3)
    if reason.startswith("cannot be read"):
        patterns = kohort.quick("validate-regex --file", file)
        assert (patterns.status, patterns.stdout) == (3, "")
        assert patterns.stderr == f"kohort: {file}: {reason}\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["a", "--from", "sarama"], "sarama"),
        (["--file", "{empty}"], "contains no pattern"),
        (["a", "--topics", "{empty}", "--snapshot", "{empty}"], "--topics and a source both list topics"),
        (["--file", "-", "--topics", "-"], "cannot both be standard input"),
    ],
)
def test_questions_that_are_invalid(
    kohort: Kohort, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    empty = tmp_path / "empty"
    empty.write_text("\n")
    answer = kohort.quick("validate-regex", *(argument.format(empty=empty) for argument in arguments))
    answer.assert_refused(reason)


def test_topics_from_standard_input(kohort: Kohort) -> None:
    answer = kohort.quick("validate-regex", "o.*", "--topics", "-", "--output", "json", stdin="orders\nb\n")
    assert answer.document["patterns"][0]["topics"]["broker"] == ["orders"]


@pytest.mark.parametrize(
    ("pattern", "reason", "position"),
    [("orders-(eu|us", "missing closing )", 7), ("a\\", "trailing backslash at end of expression", None)],
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
    answer = kohort.quick(
        "validate-regex", "audit-.*", "(", "orders", "--embedded", sample, "--output", "json"
    )
    assert answer.status == 1
    verdicts = answer.document["patterns"]
    assert [verdict["valid"] for verdict in verdicts] == [True, False, True]
    assert [verdict["topics"]["broker"] for verdict in verdicts] == [
        ["audit-eu", "audit-us"], None, ["orders"]
    ]  # fmt: skip


def test_patterns_from_a_file_and_from_stdin(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "patterns"
    file.write_text("a.*\n\n^b$\n", encoding="utf-8")
    answer = kohort.quick("validate-regex first --file", file, "--output", "csv")
    assert [row["PATTERN"] for row in answer.rows] == ["first", "a.*", "^b$"]
    answer = kohort.quick("validate-regex --file - --output csv", stdin="ö\n(\n")
    assert answer.status == 1
    assert [(row["PATTERN"], row["VALID"]) for row in answer.rows] == [("ö", "true"), ("(", "false")]


@pytest.mark.parametrize("argument", [b"caf\xe9", b"\xff\xfe", b"a\xed\xa0\x80"])
def test_an_argument_that_is_no_text(kohort: Kohort, sample: Path, argument: bytes) -> None:
    for command in ("validate-regex", "list --match", "describe billing", "plan --to consumer"):
        answer = kohort.quick(command, argument, "--embedded", sample)
        assert (answer.status, answer.stdout) == (2, "")
        assert answer.stderr.endswith("is not text in UTF-8\n")
