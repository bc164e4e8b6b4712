"""What is wrong with a group or a topic of a snapshot is named, and everything else is answered."""

from pathlib import Path

import pytest

from cli.errors import CommandError
from cli.sources.log_directories import read_topics_file
from groups.model import Topic
from groups.snapshot import wrong_racks
from tests.cli.command import Kohort

GOOD = 99
TWICE = "groups.bad.members[1].owned.orders: a number is listed twice: 3; list it once (member 'c1-4f')"
WHOLE = (
    "so the racks of this topic are not used; list those of all 3 partitions, [] where no replica has a rack, "
    "or leave racks out"
)
MEMBER = "{id: m, client: {library: java, version: 4.1.0}, protocols: [range], rack: a,\n      "
MEMBER += "subscription: {topics: [orders]}, owned: {orders: [0, 1, 2]}}"


def text(groups: str = "", racks: str = "{0: [a], 1: [b], 2: [a]}") -> str:
    good = "".join(
        f"  good-{number}:\n    {{type: classic, state: Stable, protocol_type: consumer, protocol: range,\n"
        f"    members: [{MEMBER}]}}\n"
        for number in range(GOOD)
    )
    topic = f"topics:\n  orders:\n    partitions: 3\n    racks: {racks}\n"
    return f"kohort: 1\n{topic}groups:\n{good}{groups}"


BAD = """  bad:
    type: classic
    members:
      - id: a
      - id: c1-4f
        owned:
          orders: [3, 1, 3]
"""
LINE = text(BAD).count("\n")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("faulty") / "groups.yaml"
    made.write_text(text(BAD))
    return made


@pytest.mark.parametrize(
    "command",
    [
        *("list", "list --type classic", "describe --all-groups --members", "describe --match ."),
        *("plan --all-groups --to consumer", "dry-run --all-groups", "describe --topic orders --members"),
    ],
)
def test_one_bad_group_is_named_and_others_answered(kohort: Kohort, file: Path, command: str) -> None:
    answer = kohort.quick(f"{command} --output json --snapshot", file)
    assert answer.status == 3
    assert answer.stderr == f"kohort: {file}:{LINE}: {TWICE}\n"
    entries = answer.document["plans" if "plans" in answer.document else "groups"]
    assert {group["group"] for group in entries} == {f"good-{number}" for number in range(GOOD)}
    assert answer.document["errors"] == [{"subject": f"{file}:{LINE}", "message": TWICE}]


@pytest.mark.parametrize(
    "command", ["describe", "plan --to consumer", "dry-run", "describe --state Stable", "delete"]
)
def test_the_bad_group_itself(kohort: Kohort, file: Path, command: str) -> None:
    answer = kohort.quick(f"{command} bad --output csv --snapshot", file)
    answer.assert_refused(f"kohort: {file}:{LINE}: {TWICE}\n", status=3)
    both = kohort.quick(f"{command} bad good-1 --output csv --snapshot", file)
    both.assert_said(4 if command == "delete" else 3, TWICE)
    assert both.stdout
    assert both.stderr.count(TWICE) == 1


def test_a_gate_of_a_bad_group_cannot_tell(kohort: Kohort, file: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    good = tmp_path / "good.yaml"
    good.write_text(text().replace("good-0", "bad"))
    made = kohort.quick("plan bad --to cooperative --output yaml --snapshot", good).succeeded().stdout
    plan.write_text(made)
    kohort.quick("gate --step 1", plan, "--snapshot", file).assert_said(3, TWICE)
    plan.write_text(made.replace("group: bad", "group: good-1"))
    assert kohort.quick("gate --step 1", plan, "--snapshot", file).stderr == ""


def test_every_bad_group_is_named_with_its_line(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    bad = "  worse: {state: Fine}\n  worst:\n    members:\n      - {id: x}\n      - {id: x}\n  no: [a]\n"
    file.write_text(text(BAD + bad))
    answer = kohort.quick("list --output csv --snapshot", file)
    assert len(answer.rows) == GOOD
    assert [line.partition(f"{file}:")[2].split(" ")[:2] for line in answer.stderr.splitlines()] == [
        [f"{LINE}:", "groups.bad.members[1].owned.orders:"],
        [f"{LINE + 1}:", "groups.worse.state:"],
        [f"{LINE + 5}:", "groups.worst.members[1]:"],
        [f"{LINE + 6}:", "groups.no:"],
    ]
    assert "the member id 'x' is listed twice; give each member its own (member 'x')" in answer.stderr


def test_a_bad_topic_is_named_where_it_is_read(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    file.write_text(text().replace("topics:\n", "topics:\n  broken: {partitions: many}\n", 1))
    message = f"kohort: {file}:3: topics.broken.partitions: expected a whole number, found 'many'\n"
    kohort.quick("describe --all-groups --members --snapshot", file).succeeded(stderr="")
    regex = kohort.quick("validate-regex o.* --output csv --snapshot", file)
    assert (regex.status, regex.stderr, regex.rows[0]["TOPICS"]) == (3, message, "orders")
    with pytest.raises(CommandError, match=r"groups.yaml:3: topics.broken.partitions: expected a whole"):
        read_topics_file(file)


RACKS = {
    "one-missing": ("{0: [a], 2: [b]}", f"partition 1 is missing, {WHOLE}"),
    "several-missing": ("{1: [b]}", f"partition 0 and 1 more are missing, {WHOLE}"),
    "too-many": (
        "{0: [a], 1: [b], 2: [a], 3: [b]}",
        f"partition 3 is listed, and the topic has 3 partitions, {WHOLE}",
    ),
}


@pytest.mark.parametrize(("racks", "message"), RACKS.values(), ids=RACKS.keys())
def test_racks_of_some_partitions_only(kohort: Kohort, tmp_path: Path, racks: str, message: str) -> None:
    file, without = tmp_path / "groups.yaml", tmp_path / "without.yaml"
    file.write_text(text(racks=racks))
    without.write_text(text(racks="null"))
    line = "dry-run good-3 --add 1 --rack added-1=b --output json --snapshot"
    tried, plain = kohort.quick(line, file), kohort.quick(line, without).succeeded()
    assert (tried.status, tried.stderr) == (3, f"kohort: {file}:5: topics.orders.racks: {message}\n")
    assert tried.document["groups"] == plain.document["groups"]
    kohort.quick("describe good-3 --members --snapshot", file).succeeded(stderr="")


def test_racks_that_can_be_used() -> None:
    for racks in (None, {}, {0: ("a",), 1: ()}, {0: (), 1: ()}):
        assert wrong_racks(Topic(name="t", partitions=2, racks=racks)) is None
    assert wrong_racks(Topic(name="t", partitions=2**31 - 1, racks={5: ()})) is not None
