"""The text of Topology#describe, and the tasks that it has with the topics of a cluster (A38)."""

import random
from contextlib import suppress

import pytest

from assignors.streams.model import Task
from assignors.streams.partition_groups import MissingSourceTopicsError, group_partitions
from assignors.streams.topology import DescribedSubtopology, TopologyTextError, parse_topology
from tests.support.long import cases

COUNTS = """\
Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [orders, returns])
      --> by-user-repartition-filter
    Processor: by-user-repartition-filter (stores: [])
      --> by-user-repartition-sink
      <-- KSTREAM-SOURCE-0000000000
    Sink: by-user-repartition-sink (topic: by-user-repartition)
      <-- by-user-repartition-filter

  Sub-topology: 1 for global store (will not generate tasks)
    Source: KSTREAM-SOURCE-0000000009 (topics: [rates])
      --> KTABLE-SOURCE-0000000010
    Processor: KTABLE-SOURCE-0000000010 (stores: [rates-store])
      --> none
      <-- KSTREAM-SOURCE-0000000009

  Sub-topology: 2
    Source: by-user-repartition-source (topics: [by-user-repartition])
      --> KSTREAM-AGGREGATE-0000000005
    Source: KSTREAM-SOURCE-0000000007 (topics: audit-.*)
      --> none
    Processor: KSTREAM-AGGREGATE-0000000005 (stores: [counts, names])
      --> KSTREAM-SINK-0000000008
      <-- by-user-repartition-source
    Sink: KSTREAM-SINK-0000000008 (extractor class: com.example.Router@1b2c3d)
      <-- KSTREAM-AGGREGATE-0000000005

"""
AUDIT = {"audit-.*": frozenset({"audit-eu"})}
TOPICS = {"orders": 2, "returns": 3, "audit-eu": 1, "app-counts-changelog": 3}


def test_a_description_is_read_without_global_stores() -> None:
    assert parse_topology(COUNTS).subtopologies == (
        DescribedSubtopology(
            number=0, sources=frozenset({"orders", "returns"}), sinks=frozenset({"by-user-repartition"})
        ),
        DescribedSubtopology(
            number=2,
            sources=frozenset({"by-user-repartition"}),
            patterns=("audit-.*",),
            stores=frozenset({"counts", "names"}),
        ),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: there is no 'Sub-topology: 0'; expected the text of Topology#describe"),
        ("Topologies:\n", "line 1: there is no 'Sub-topology: 0'; expected the text of Topology#describe"),
        ("kind: Service\n", "line 1: 'kind: Service' is before the first 'Sub-topology: 0'"),
        (
            COUNTS.replace("--> none", "-> none", 1),
            "line 15: '-> none' is no source, processor, sink or edge",
        ),
        (COUNTS.replace("Sub-topology: 2", "Sub-topology: 0"), "line 18: sub-topology 0 occurs twice"),
        ("Sub-topology: 0\n\nSub-topology: 1\n", "line 1: sub-topology 0 has no source"),
        (COUNTS.replace("orders, ", "or ders, "), "line 3: 'or ders' is no name of a topic"),
        ("Topology: fraud:\n", "line 1: a named topology is not supported: its tasks have other ids"),
    ],
)
def test_an_error_names_the_line_and_the_reason(text: str, message: str) -> None:
    with pytest.raises(TopologyTextError) as error:
        parse_topology(text)
    assert str(error.value) == message


def test_damaged_descriptions_raise_nothing_but_our_error() -> None:
    chance = random.Random(5)
    read = 0
    count = cases("KOHORT_FUZZ_CASES", 2_000, many=100_000)
    for _ in range(count):
        text = list(COUNTS)
        for _ in range(chance.choice((1, 1, 2, 5))):
            start = chance.randrange(len(text))
            text[start : start + chance.choice((0, 1, 1, 30))] = chance.choice(
                ("", "\n", "[", "]", "(", ":", " ", "9" * 12, "\0", "é", "--> ", "Source: a (topics: [b])")
            )
        with suppress(TopologyTextError):
            parse_topology("".join(text))
            read += 1
    assert count // 20 < read < count


def test_a_missing_repartition_topic_is_as_large_as_its_source() -> None:
    groups = group_partitions(parse_topology(COUNTS), "app", TOPICS, matched=AUDIT)
    repartition = "app-by-user-repartition"
    assert groups.tasks == {
        Task(0, 0): {("orders", 0), ("returns", 0)},
        Task(0, 1): {("orders", 1), ("returns", 1)},
        Task(0, 2): {("returns", 2)},
        Task(2, 0): {(repartition, 0), ("audit-eu", 0)},
        Task(2, 1): {(repartition, 1)},
        Task(2, 2): {(repartition, 2)},
    }
    assert groups.stateful == {Task(2, 0), Task(2, 1), Task(2, 2)}
    assert groups.changelogs[Task(2, 1)] == {("app-counts-changelog", 1)}
    assert [item.subject for item in groups.undetermined] == [repartition]


def test_a_store_without_changelog_counts_if_members_report_it() -> None:
    topics = {name: count for name, count in TOPICS.items() if not name.endswith("-changelog")}
    topology = parse_topology(COUNTS)
    unreported = group_partitions(topology, "app", topics, matched=AUDIT)
    assert not unreported.stateful
    assert [item.subject for item in unreported.undetermined][-1] == "sub-topology 2"
    assert len(group_partitions(topology, "app", topics, {Task(2, 1)}, AUDIT).stateful) == 3


@pytest.mark.parametrize(
    ("topics", "message"),
    [
        ({"orders": 2, "audit-eu": 1}, "source topics do not exist: returns"),
        ({"orders": 2, "returns": 3}, "no topic matches the pattern of sub-topology 2"),
    ],
)
def test_a_missing_source_topic_is_an_error(topics: dict[str, int], message: str) -> None:
    matched = {pattern: names & topics.keys() for pattern, names in AUDIT.items()}
    text = COUNTS if "returns" not in topics else COUNTS.replace("[by-user-repartition]", "audit-.*")
    with pytest.raises(MissingSourceTopicsError) as error:
        group_partitions(parse_topology(text), "app", topics, matched=matched)
    assert str(error.value) == message
