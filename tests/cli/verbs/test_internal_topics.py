"""Which internal topics go with a change, of groups in a snapshot."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Answer, Kohort

SNAPSHOT = """
kohort: 1
topics:
  in: {partitions: 1, end_offsets: {0: 9}}
  app-a-changelog: {partitions: 1}
  app-a-repartition: {partitions: 1}
  other-a-changelog: {partitions: 1}
groups:
  app:
    type: streams
    state: Empty
    offsets: {in: {0: {offset: 3}}, app-a-repartition: {0: {offset: 1}}}
    topology:
      epoch: 0
      subtopologies:
        - {id: "0", source_topics: [in], repartition_sinks: [app-a-repartition]}
        - id: "1"
          repartition_sources: [app-a-repartition]
          changelogs: [app-a-changelog, other-a-changelog, app-gone-changelog]
  new: {type: streams, state: Empty, offsets: {in: {0: {offset: 3}}}}
  plain: {type: classic, state: Empty, offsets: {in: {0: {offset: 3}}}}
"""
OWN = [("app-a-changelog", "changelog"), ("app-a-repartition", "repartition")]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("streams") / "snapshot.yaml"
    file.write_text(SNAPSHOT)
    return file


def ask(kohort: Kohort, snapshot: Path, line: str) -> Answer:
    return kohort.quick(line, "--snapshot", snapshot, "--output", "json")


def chosen(answer: Answer) -> list[tuple[str, str]]:
    return [
        (internal_topic["topic"], internal_topic["kind"])
        for internal_topic in answer.document["groups"][0]["internal_topics"]
    ]


@pytest.mark.parametrize("command", ["delete app", "offsets reset app --all-topics --to-latest"])
def test_only_what_an_option_names_goes(kohort: Kohort, snapshot: Path, command: str) -> None:
    assert chosen(ask(kohort, snapshot, command).succeeded()) == []
    # A topic of another application's name, and one that is not there, stay.
    assert chosen(ask(kohort, snapshot, f"{command} --delete-all-internal-topics").succeeded()) == OWN
    one = ask(kohort, snapshot, f"{command} --delete-internal-topic app-a-changelog").succeeded()
    assert chosen(one) == OWN[:1]
    assert "app: its internal topics are kept: app-a-repartition." in one.stderr


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("app --delete-internal-topic in", 2, "in: not an internal topic of these groups"),
        ("app --delete-internal-topic other-a-changelog", 2, "not an internal topic of these groups"),
        ("plain --delete-internal-topic app-a-changelog", 2, "of these groups; theirs: none"),
        ("app --delete-internal-topic app-gone-changelog", 3, "app, app-gone-changelog: no such topic"),
        (
            "app --delete-internal-topic app-a-changelog --delete-all-internal-topics",
            2,
            "cannot be used together",
        ),
        ("new --delete-all-internal-topics", 3, "new: its topology is not known"),
        ("plain --delete-all-internal-topics", 0, "plain: only streams groups have known internal topics"),
    ],
)
def test_what_cannot_be_deleted_is_said(
    kohort: Kohort, snapshot: Path, words: str, status: int, said: str
) -> None:
    ask(kohort, snapshot, f"delete {words}").assert_said(status, said)


def test_all_topics_of_a_streams_group_are_its_input_topics(kohort: Kohort, snapshot: Path) -> None:
    for command in ("offsets reset app --all-topics --to-latest", "offsets delete app --all-topics"):
        (group,) = ask(kohort, snapshot, command).succeeded().document["groups"]
        assert [row["topic"] for row in group["offsets"]] == ["in"]
    refused = ask(kohort, snapshot, "offsets reset app --topic other-a-changelog --to-offset 0")
    refused.assert_said(3, "its topology does not read this topic; it reads app-a-repartition, in")
