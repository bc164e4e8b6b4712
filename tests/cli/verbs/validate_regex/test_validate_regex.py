"""`validate-regex`: what does not compile, what a group would lose and gain, and the pattern to use instead."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Answer, Kohort
from tests.cli.schemas import faults
from tests.support.golden import assert_recorded

TOPICS = ("orders", "orders-1", "audit-eu", "topic", "topic-1", "my-topic", "__consumer_offsets")


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    file = tmp_path / "topics"
    file.write_text("\n".join(TOPICS) + "\n")
    return file


def _ask(kohort: Kohort, *arguments: str | Path) -> tuple[Answer, list[dict[str, Any]]]:
    answer = kohort.quick("validate-regex", *arguments, "--output", "json")
    assert not answer.traceback, answer.stderr
    return answer, answer.document["patterns"]


LINES = (
    # what librdkafka searches for and the broker does not, and what to use instead; a name
    "^topic --from librdkafka", "^topic.* --from librdkafka", "topic my.topic ( --from librdkafka",
    "^.* --from librdkafka",
    # a look-ahead becomes alternatives; the broker matches internal topics too
    "(?!audit|__).* --from java", "[^_].* --from java", ".* --from java",
    # what Java refuses, and what is unknown
    "(?P<n>a) --from java", r"[^a[b]]+ --from java", r"(a)\1 --from java",
    # regexes of one subscription
    "^a.* b ^c.* --from librdkafka", "a b --from java",
    # dangerous to the broker, or refused by it
    *(f"^((a{{1000}}){{1000}}){{1000}}{client}" for client in ("", " --from java", " --from librdkafka")),
    "orders-(eu|us", "a\\", "orders.* ( topic",
)  # fmt: skip


def test_each_line_has_the_recorded_answers(kohort: Kohort, topics: Path) -> None:
    answers = {}
    for line in LINES:
        shown = kohort.quick("validate-regex", *line.split(), "--topics", topics)
        answer, patterns = _ask(kohort, *line.split(), "--topics", topics)
        assert not faults(answer.document)
        documents = [json.dumps(pattern) for pattern in (*patterns, answer.document["joined"])]
        answers[line] = "\n".join([f"status {answer.status}", shown.stdout, answer.stderr, *documents])
    assert_recorded("validate-regex/lines.txt", answers)


def test_without_topics_it_is_reported_by_example(kohort: Kohort) -> None:
    answer, (verdict,) = _ask(kohort, "^topic", "--from", "librdkafka")
    assert (answer.status, verdict["topics"]["lost"], verdict["examples"]["lost"]) == (1, None, "topica")


def test_regexes_of_one_subscription_may_be_too_long(kohort: Kohort) -> None:
    long = "^" + "a" * 20_000 + ".*"
    answer = _ask(kohort, long, long.replace("a", "b"), "--from", "librdkafka")[0]
    assert answer.status == 1
    assert answer.document["joined"]["reason"].startswith("longer than 32767 bytes")


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


def test_questions_that_are_invalid(kohort: Kohort, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_text("\n")
    for line, reason in {
        "a --from sarama": "sarama",
        f"--file {empty}": "contains no pattern",
        f"a --topics {empty} --snapshot {empty}": "--topics and a source both list topics",
        "--file - --topics -": "cannot both be standard input",
    }.items():
        kohort.quick(f"validate-regex {line}").assert_refused(reason)


def test_topics_from_standard_input(kohort: Kohort) -> None:
    answer = kohort.quick("validate-regex", "o.*", "--topics", "-", "--output", "json", stdin="orders\nb\n")
    assert answer.document["patterns"][0]["topics"]["broker"] == ["orders"]


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
