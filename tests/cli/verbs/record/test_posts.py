"""Webhooks and commands: what they get, and that a receiver that fails or hangs delays no recording."""

import json
import sys
import threading
import time
from pathlib import Path

import pytest

from cli.errors import UsageError
from cli.verbs.record import posts
from cli.verbs.record.posts import Receivers, Sender
from tests.kafka.http_server import Answer, Asked, http_server
from tests.kafka.wait import wait_until

POSTS = [(number, json.dumps({"number": number})) for number in range(1, 5)]


def numbers(asked: list[Asked]) -> list[int]:
    return [json.loads(one.body)["number"] for one in asked]


def test_a_webhook_gets_each_document_with_its_secret(tmp_path: Path) -> None:
    secret, asked = tmp_path / "header", list[Asked]()
    secret.write_text("X-Secret: first\n")

    def answer(one: Asked) -> Answer:
        asked.append(one)
        return Answer(body=b"")

    with http_server(answer) as url:
        sender = Sender(Receivers.of(f"{url}/hook", secret, None, 60), print)
        sender.send(POSTS[:1])
        wait_until(lambda: list(sender.done) == [1], "it is sent")
        secret.write_text("X-Secret: second\n")
        sender.send(POSTS[1:2])
        wait_until(lambda: list(sender.done) == [1, 2], "both are sent")
        sender.finish(5)
    assert numbers(asked) == [1, 2]
    assert [one.headers["X-Secret"] for one in asked] == ["first", "second"]
    assert asked[0].headers["Content-Type"] == "application/json"


def test_an_error_is_tried_again_and_then_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posts, "RETRY_AFTER_S", (0.01, 0.01))
    asked, lines, failures = list[Asked](), list[str](), [500, 503, 200, 500, 302, 500]

    def answer(one: Asked) -> Answer:
        asked.append(one)
        return Answer(body=b"", status=failures.pop(0), headers={"Location": "/elsewhere"})

    with http_server(answer) as url:
        sender = Sender(Receivers.of(url, None, None, 60), lines.append)
        sender.send(POSTS[:2])
        wait_until(lambda: list(sender.done) == [1, 2], "both are done")
        sender.finish(5)
    assert numbers(asked) == [1, 1, 1, 2, 2, 2]
    assert {one.path for one in asked} == {"/"}
    assert len(lines) == 1
    assert lines[0].startswith("--webhook: given up after 3 attempts: ")
    assert "answers 500" in lines[0]


def test_a_webhook_that_hangs_delays_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posts, "MOST_WAITING", 2)
    hangs = threading.Event()

    def answer(_: Asked) -> Answer:
        hangs.wait(60)
        return Answer(body=b"")

    with http_server(answer) as url:
        sender = Sender(Receivers.of(url, None, None, 60), print)
        started = time.monotonic()
        for _ in range(100):
            sender.send(POSTS)
        sender.finish(0.1)
        assert time.monotonic() - started < 5
        hangs.set()


def test_more_than_the_limit_is_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, lines = list[Asked](), list[str]()

    def answer(one: Asked) -> Answer:
        asked.append(one)
        return Answer(body=b"")

    with http_server(answer) as url:
        sender = Sender(Receivers.of(url, None, None, 2), lines.append)
        sender.send(POSTS)
        wait_until(lambda: list(sender.done) == [1, 2, 3, 4], "all are done")
        monkeypatch.setattr(posts, "HOUR_S", 0)
        sender.send([(5, '{"number": 5}')])
        wait_until(lambda: 5 in sender.done, "the next is sent")
        sender.finish(5)
    assert numbers(asked) == [1, 2, 5]
    assert json.loads(asked[-1].body)["left_out"] == 2
    assert lines == ["more than 2 findings within an hour: the others are in the journal only (--per-hour)"]


def test_a_command_gets_the_document_on_its_input(tmp_path: Path) -> None:
    lines, script = list[str](), tmp_path / "script.py"
    script.write_text(
        "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(sys.stdin.read()); sys.exit(3)"
    )
    command = f"{sys.executable} {script} '{tmp_path}/a b'"
    sender = Sender(Receivers.of(None, None, command, 60), lines.append)
    sender.send(POSTS[:1])
    wait_until(lambda: list(sender.done) == [1], "it has run")
    sender.finish(5)
    assert (tmp_path / "a b").read_text() == POSTS[0][1]
    assert lines == [f"--on-finding: {sys.executable} ended with status 3"]
    sender = Sender(Receivers.of(None, None, "/no/such/command", 60), lines.append)
    sender.send(POSTS[:1])
    wait_until(lambda: list(sender.done) == [1], "it has failed")
    sender.finish(5)
    assert lines[1:] == ["--on-finding: /no/such/command: No such file or directory"]


def test_invalid_receivers_are_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "bad").write_text("no header")
    for webhook, header, command, reason in (
        ("ftp://host", None, None, "write http://HOST"),
        ("https://", None, None, "write http://HOST"),
        (None, tmp_path / "bad", None, "needs --webhook"),
        ("http://host", tmp_path / "bad", None, "write one line"),
        ("http://host", tmp_path / "none", None, "No such file"),
        (None, None, "a 'b", "No closing quotation"),
    ):
        with pytest.raises(UsageError, match=reason):
            Receivers.of(webhook, header, command, 60)
