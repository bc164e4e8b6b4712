"""A snapshot shows what the live cluster showed: every command, the same document."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Kohort
from tests.cli.fleet import Fleet

pytestmark = pytest.mark.kafka

QUESTIONS = (
    *(f"list --match ^PREFIX{only}" for only in ("", " --type consumer,share,streams", " --protocol sticky")),
    *(f"describe GROUPS {mode}" for mode in ("--offsets", "--members", "--state")),
    "validate-regex .*orders ^fleet.* __.* [a-",
    *(f"plan PREFIX-{kind} --to consumer" for kind in ("java-range", "java-static", "mixed", "share", "simple")),
    "plan PREFIX-java-range --to cooperative --client java:3.9",
    "plan PREFIX-confluent-range --to cooperative --client librdkafka:2.6.1",
    *(f"dry-run PREFIX-{kind}" for kind in ("java-range", "java-cooperative", "java-static", "mixed")),
    *(f"dry-run PREFIX-{kind} --assignor range" for kind in ("confluent-cooperative", "consumer-regex")),
)  # fmt: skip


@pytest.fixture(scope="module", params=["groups.yaml", "groups.json"])
def saved(
    request: pytest.FixtureRequest, kohort: Kohort, fleet: Fleet, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    file = tmp_path_factory.mktemp("saved") / str(request.param)
    answer = kohort.quick(f"snapshot -b {fleet.broker.bootstrap} --match ^{fleet.prefix} --file {file}")
    answer.assert_said(0, f"{len(fleet.groups)} groups")
    return file


@pytest.fixture(scope="module")
def live(kohort: Kohort, fleet: Fleet) -> dict[str, tuple[int, dict[str, Any]]]:
    return {question: _ask(kohort, fleet, question, "-b", fleet.broker.bootstrap) for question in QUESTIONS}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_snapshot_answers_like_the_cluster(
    kohort: Kohort, fleet: Fleet, saved: Path, live: dict[str, tuple[int, dict[str, Any]]], question: str
) -> None:
    status, document = live[question]
    assert status in (0, 1), document
    assert document["errors"] == []
    from_file = _ask(kohort, fleet, question, "--snapshot", saved)
    servers = fleet.broker.bootstrap
    assert _lines(_comparable(from_file, servers)) == _lines(_comparable((status, document), servers))


def _ask(kohort: Kohort, fleet: Fleet, question: str, *source: str | Path) -> tuple[int, dict[str, Any]]:
    line = question.replace("GROUPS", " ".join(fleet.groups.values())).replace("PREFIX", fleet.prefix)
    answer = kohort.quick(line, *source, "--output", "json")
    assert not answer.traceback, answer.stderr
    assert answer.stdout, answer.stderr
    return answer.status, answer.document


def test_writing_what_was_read_changes_nothing(kohort: Kohort, saved: Path, tmp_path: Path) -> None:
    again, whole = tmp_path / saved.name, saved.read_bytes()
    # By way of the other format, too.
    other = tmp_path / f"other{'.json' if saved.suffix == '.yaml' else '.yaml'}"
    for source, target in ((saved, again), (saved, saved), (saved, other), (other, again)):
        assert kohort.quick(f"snapshot --snapshot {source} --file {target}").status == 0
        assert saved.read_bytes() == whole
        if target == again:
            assert again.read_bytes() == whole
            again.unlink()


def _comparable(answer: tuple[int, dict[str, Any]], servers: str) -> tuple[int, dict[str, Any]]:
    """Without what a file cannot hold: where the cluster is, and what its authorizer says."""
    status, document = answer
    document = json.loads(json.dumps(document).replace(servers, '\\"$BOOTSTRAP\\"'))
    if "findings" in document:
        document["findings"] = [finding for finding in document["findings"] if finding["rule"] != "acl"]
    return status, document


def _lines(answer: tuple[int, dict[str, Any]]) -> list[str]:
    return json.dumps(answer, indent=1).splitlines()
