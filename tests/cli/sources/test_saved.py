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
    "binary": (bytes(range(256)), "{file}: not a text file in UTF-8"),
    "zeros": (b"\x00" * 40, "{file}: not YAML or JSON"),
    "version-text": (b"kohort: one\n", "{file}:1: kohort: expected a whole number, found 'one'"),
    "cut": (b'kohort: 1\ngroups: {"a', "{file}:2: not YAML or JSON"),
    "tab": (b"kohort: 1\ngroups:\n\tg: {}\n", "{file}:3: not YAML or JSON"),
    "twice": (b"kohort: 1\ngroups: {}\ngroups: {}\n", "{file}:3: the key 'groups' is listed twice"),
    "groups-list": (b"kohort: 1\ngroups: [a]\n", "{file}:2: groups: expected a mapping, found a list"),
    "type": (GROUP.encode() + b"    type: clasic\n", "{file}:4: groups.g.type: expected one of classic, consumer"),
    "id-twice": (
        GROUP.encode() + b"    members:\n      - id: a\n      - id: a\n",
        "{file}:6: groups.g.members[1]: the member id 'a' is listed twice",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_file_that_is_no_snapshot(kohort: Kohort, tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "groups.yaml"
    file.write_bytes(content)
    for command in ("list", "describe g", "plan g --to consumer", "validate-regex a"):
        answer = kohort.quick(command, "--snapshot", file)
        answer.assert_refused(f"kohort: {message.format(file=file)}", status=3)
        assert answer.stderr.count("\n") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "secret.yaml"
    file.write_text("kohort: 1\n")
    file.chmod(0)
    kohort.quick("list --snapshot", file).assert_refused(
        f"{file}: cannot be read: Permission denied\n", status=3
    )


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
    said = f"kohort: {file}:4: groups.g.flavor: unknown field, not read\n"
    assert kohort.quick("list --output csv --snapshot", file).succeeded(stderr=said).rows[0]["GROUP"] == "g"


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
