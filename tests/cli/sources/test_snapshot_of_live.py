"""A snapshot shows what the live cluster showed: every command, the same document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Kohort
from tests.cli.fleet import Fleet

pytestmark = pytest.mark.kafka

QUESTIONS = (
    ["list"],
    ["list", "--type", "consumer,share,streams"],
    ["list", "--protocol", "sticky"],
    *(["describe", "GROUPS", mode] for mode in ("--offsets", "--members", "--state")),
    ["validate-regex", ".*orders", "^fleet.*", "__.*", "[a-"],
    *(["plan", f"GROUP:{kind}", "--to", "consumer"] for kind in ("java-range", "java-static", "mixed", "share")),
    ["plan", "GROUP:java-range", "--to", "cooperative", "--client", "java:3.9"],
    ["plan", "GROUP:confluent-range", "--to", "cooperative", "--client", "librdkafka:2.6.1"],
    ["plan", "GROUP:simple", "--to", "consumer"],
    *(["dry-run", f"GROUP:{kind}"] for kind in ("java-range", "java-cooperative", "java-static", "mixed")),
    *(["dry-run", f"GROUP:{kind}", "--assignor", "range"] for kind in ("confluent-cooperative", "consumer-regex")),
)  # fmt: skip
TABLES = ("--offsets", "--members", "--state")


@pytest.fixture(scope="module", params=["groups.yaml", "groups.json"])
def saved(
    request: pytest.FixtureRequest, kohort: Kohort, fleet: Fleet, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Give a snapshot of the fleet, in YAML and in JSON."""
    file = tmp_path_factory.mktemp("saved") / str(request.param)
    answer = kohort(
        "snapshot", "-b", fleet.broker.bootstrap, "--match", f"^{fleet.prefix}", "-o", file
    )  # fmt: skip
    assert answer.status == 0, answer.stderr
    assert answer.stdout == ""
    assert f"{len(fleet.groups)} groups" in answer.stderr
    return file


@pytest.fixture(scope="module")
def live(kohort: Kohort, fleet: Fleet) -> dict[str, tuple[int, dict[str, Any]]]:
    """Give the live answers, each asked once."""
    return {" ".join(q): _ask(kohort, fleet, q, ["-b", fleet.broker.bootstrap]) for q in QUESTIONS}


@pytest.mark.parametrize("question", QUESTIONS, ids=" ".join)
def test_a_snapshot_answers_like_the_cluster(
    kohort: Kohort,
    fleet: Fleet,
    saved: Path,
    live: dict[str, tuple[int, dict[str, Any]]],
    question: list[str],
) -> None:
    status, document = live[" ".join(question)]
    assert status in (0, 1), document
    assert document["errors"] == []
    from_file = _ask(kohort, fleet, question, ["--snapshot", str(saved)])
    servers = fleet.broker.bootstrap
    assert _lines(_comparable(from_file, servers)) == _lines(_comparable((status, document), servers))


def _ask(kohort: Kohort, fleet: Fleet, question: list[str], source: list[str]) -> tuple[int, dict[str, Any]]:
    words: list[str] = []
    for word in question:
        if word == "GROUPS":
            words += fleet.groups.values()
        else:
            words.append(fleet.groups[word.removeprefix("GROUP:")] if word.startswith("GROUP:") else word)
    words += ["--match", f"^{fleet.prefix}"] if question[0] == "list" else []
    answer = kohort.quick(*words, *source, "--output", "json")
    assert not answer.traceback, answer.stderr
    assert answer.stdout, answer.stderr
    return answer.status, answer.document


@pytest.mark.parametrize("mode", TABLES)
@pytest.mark.parametrize("output", ["table", "csv", "markdown", "yaml"])
def test_the_other_formats_are_the_same_too(
    kohort: Kohort, fleet: Fleet, saved: Path, mode: str, output: str
) -> None:
    asked = ["describe", *fleet.groups.values(), mode, "--verbose", "--output", output]
    live = kohort.quick(*asked, "-b", fleet.broker.bootstrap)
    assert live.status == 0, live.stderr
    from_file = kohort.quick(*asked, "--snapshot", saved)
    assert from_file.stdout.splitlines() == live.stdout.splitlines()
    assert (from_file.status, from_file.stderr) == (live.status, live.stderr)


def test_writing_what_was_read_changes_nothing(kohort: Kohort, saved: Path, tmp_path: Path) -> None:
    again = tmp_path / saved.name
    assert kohort("snapshot", "--snapshot", saved, "-o", again).status == 0
    assert again.read_bytes() == saved.read_bytes()
    before = saved.read_bytes()
    assert kohort("snapshot", "--snapshot", saved, "-o", saved).status == 0
    assert saved.read_bytes() == before
    # By way of the other format, too.
    other = tmp_path / f"other{'.json' if saved.suffix == '.yaml' else '.yaml'}"
    assert kohort("snapshot", "--snapshot", saved, "-o", other).status == 0
    assert kohort("snapshot", "--snapshot", other, "-o", again).status == 0
    assert again.read_bytes() == saved.read_bytes()


def test_without_a_file_the_yaml_goes_to_stdout(kohort: Kohort, saved: Path, tmp_path: Path) -> None:
    answer = kohort("snapshot", "--snapshot", saved)
    assert answer.status == 0
    (tmp_path / "again.yaml").write_text(answer.stdout, encoding="utf-8")
    again = kohort.quick("list", "--snapshot", tmp_path / "again.yaml", "--output", "json")
    assert again == kohort.quick("list", "--snapshot", saved, "--output", "json")


def _comparable(answer: tuple[int, dict[str, Any]], servers: str) -> tuple[int, dict[str, Any]]:
    """Without what a file cannot hold: where the cluster is, and what its authorizer says."""
    status, document = answer
    document = json.loads(json.dumps(document).replace(servers, '\\"$BOOTSTRAP\\"'))
    if "findings" in document:
        document["findings"] = [each for each in document["findings"] if each["rule"] != "acl"]
    return status, document


def _lines(answer: tuple[int, dict[str, Any]]) -> list[str]:
    """For a message that shows what differs."""
    return json.dumps(answer, indent=1).splitlines()
