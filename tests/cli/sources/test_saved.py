"""A snapshot that cannot be used: file, line and field are named, with exit status 3 and nothing on stdout."""

import os
from pathlib import Path

import pytest

from tests.cli.command import Kohort

GROUP = "kohort: 1\ngroups:\n  g:\n"

NO_SNAPSHOT = "{file}:1: kohort: missing: this is not a snapshot; `kohort snapshot` writes one"
BROKEN: dict[str, tuple[bytes, str]] = {
    "empty": (b"", NO_SNAPSHOT),
    "other-yaml": (b"apiVersion: v1\nkind: Pod\n", NO_SNAPSHOT),
    "other-json": (b'{"groups": []}', NO_SNAPSHOT),
    "a-list": (b"- a\n- b\n", NO_SNAPSHOT),
    "a-word": (b"hello", NO_SNAPSHOT),
    "binary": (bytes(range(256)), "{file}: not a text file in UTF-8"),
    "an-archive": (b"\x1f\x8b\x08\x00\x00", "{file}: not a text file in UTF-8"),
    "zeros": (b"\x00" * 40, "{file}: not YAML or JSON"),
    "newer": (b"kohort: 2\n", "{file}:1: kohort: format 2 is newer than this Kohort reads (1); upgrade Kohort"),
    "version-text": (b"kohort: one\n", "{file}:1: kohort: expected a whole number, found 'one'"),
    "version-0": (b"kohort: 0\n", "{file}:1: kohort: 0 is out of range"),
    "cut": (b'kohort: 1\ngroups: {"a', "{file}:2: not YAML or JSON"),
    "tab": (b"kohort: 1\ngroups:\n\tg: {}\n", "{file}:3: not YAML or JSON"),
    "twice": (b"kohort: 1\ngroups: {}\ngroups: {}\n", "{file}:3: the key 'groups' is listed twice"),
    "twice-json": (b'{"kohort": 1,\n"groups": {},\n"groups": {}}', "{file}:3: the key 'groups' is listed twice"),
    "groups-list": (b"kohort: 1\ngroups: [a]\n", "{file}:2: groups: expected a mapping, found a list"),
    "type": (GROUP.encode() + b"    type: clasic\n", "{file}:4: groups.g.type: expected one of classic, consumer"),
    "state": (GROUP.encode() + b"    state: Fine\n", "{file}:4: groups.g.state: expected one of "),
    "near-miss": (GROUP.encode() + b"    membres: []\n", "{file}:4: groups.g.membres: unknown field; did you mean"),
    "no-id": (GROUP.encode() + b"    members:\n      - rack: a\n", "{file}:5: groups.g.members[0].id: is missing"),
    "id-twice": (
        GROUP.encode() + b"    members:\n      - id: a\n      - id: a\n",
        "{file}:6: groups.g.members[1]: the member id 'a' is listed twice",
    ),
    "owned": (
        GROUP.encode() + b"    members:\n      - id: a\n        owned: {t: [0, x]}\n",
        "{file}:6: groups.g.members[0].owned.t[1]: expected a whole number, found 'x'",
    ),
    "owned-twice": (
        GROUP.encode() + b"    members:\n      - id: a\n        owned:\n          t: [1, 1]\n",
        "{file}:7: groups.g.members[0].owned.t: a number is listed twice",
    ),
    "negative": (
        b"kohort: 1\ntopics:\n  t:\n    partitions: -1\n", "{file}:4: topics.t.partitions: -1 is out of range",
    ),
    "no-partitions": (b"kohort: 1\ntopics:\n  t: {}\n", "{file}:3: topics.t.partitions: is missing"),
    "topic-id": (
        b"kohort: 1\ntopics:\n  t:\n    partitions: 1\n    id: abc\n", "{file}:5: topics.t.id:",
    ),
    "base64": (
        GROUP.encode() + b"    members:\n      - id: a\n        user_data: {subscription: '***'}\n",
        "{file}:6: groups.g.members[0].user_data.subscription: expected base64",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_file_that_is_no_snapshot(kohort: Kohort, tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "groups.yaml"
    file.write_bytes(content)
    for command in (["list"], ["describe", "g"], ["plan", "g", "--to", "consumer"], ["validate-regex", "a"]):
        answer = kohort.quick(*command, "--snapshot", file)
        assert answer.status == 3, answer
        assert answer.stdout == ""
        assert answer.stderr.startswith(f"kohort: {message.format(file=file)}")
        assert answer.stderr.count("\n") == 1
        assert not answer.traceback


def test_a_file_that_cannot_be_read(kohort: Kohort, tmp_path: Path) -> None:
    missing, pipe_end = tmp_path / "missing.yaml", tmp_path / "a-file" / "below.yaml"
    (tmp_path / "a-file").write_text("")
    for file, reason in (
        (missing, "No such file or directory"),
        (tmp_path, "Is a directory"),
        (pipe_end, "Not a directory"),
    ):
        answer = kohort.quick("list", "--snapshot", file)
        assert (answer.status, answer.stdout) == (3, "")
        assert answer.stderr == f"kohort: {file}: cannot be read: {reason}\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "secret.yaml"
    file.write_text("kohort: 1\n")
    file.chmod(0)
    answer = kohort.quick("list", "--snapshot", file)
    assert (answer.status, answer.stdout) == (3, "")
    assert answer.stderr == f"kohort: {file}: cannot be read: Permission denied\n"


@pytest.mark.parametrize("output", ["table", "json", "yaml", "csv", "markdown"])
def test_a_missing_group_is_reported_with_the_others(kohort: Kohort, sample: Path, output: str) -> None:
    both, alone = (
        kohort.quick(f"describe {groups} --state --output {output} --embedded", sample)
        for groups in ("billing missing", "missing")
    )
    for answer in (both, alone):
        assert answer.status == 3
        assert answer.stderr.startswith("kohort: missing: no such group in ")
        assert ("missing" in answer.stdout) == (output in ("json", "yaml"))
    assert "billing" in both.stdout
    assert bool(alone.stdout) == (output in ("json", "yaml"))
    if output == "json":
        assert [group["group"] for group in both.document["groups"]] == ["billing"]
        assert [error["subject"] for error in both.document["errors"]] == ["missing"]


def test_an_unknown_field_is_passed_over_and_named(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "later.yaml"
    file.write_text("kohort: 1\ngroups:\n  g:\n    flavor: vanilla\n")
    answer = kohort.quick("list", "--snapshot", file, "--output", "csv")
    assert answer.status == 0
    assert answer.rows[0]["GROUP"] == "g"
    assert answer.stderr == f"kohort: {file}:4: groups.g.flavor: unknown field, not read\n"


def test_names_do_not_steer_the_terminal(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "evil.yaml"
    file.write_text('kohort: 1\ngroups:\n  "\\e[2Jevil": {state: Empty, "\\e[31mfield": 1}\n')
    for output in ("table", "markdown"):
        answer = kohort.quick("describe", "\x1b[2Jno", "--snapshot", file, "--output", output)
        assert answer.status == 3
        assert "\x1b" not in answer.stdout + answer.stderr
        answer = kohort.quick("describe", "--all-groups", "--state", "--snapshot", file, "--output", output)
        assert "\x1b" not in answer.stdout + answer.stderr
        assert "evil" in answer.stdout
        assert "field: unknown field" in answer.stderr
