"""What brokers answer, as groups."""

from typing import Any

import pytest

from groups.described import as_group, classic_group, with_nodes
from groups.model import Group, GroupState, GroupType, Member
from groups.streams import NodeKind, Subtopology, Topology, TopologyNode
from wire.messages.embedded_protocol import EmbeddedSubscription, write_subscription
from wire.messages.schemas.streams_groups import STREAMS_GROUP_DESCRIBE

GROUP: Any = {
    "error_code": 0,
    "error_message": None,
    "group_id": "app",
    "group_state": "Stable",
    "group_epoch": 3,
    "assignment_epoch": 3,
    "topology": None,
    "members": [],
    "authorized_operations": -(2**31),
    "topology_description": None,
    "topology_description_status": 0,
    "assignor_name": "sticky",
}


def answered(version: int, **fields: Any) -> Any:
    reported = STREAMS_GROUP_DESCRIBE.encode_response(version, 7, {"groups": [GROUP | fields]})
    (answer,) = STREAMS_GROUP_DESCRIBE.decode_response(version, reported[4:]).groups
    return answer


@pytest.mark.parametrize(("version", "shown"), [(0, None), (1, "sticky")])
def test_the_assignor_of_a_streams_group_is_known_since_4_4(version: int, shown: str | None) -> None:
    assert as_group(GroupType.STREAMS, answered(version), None)[0].protocol == shown


def test_nodes_of_a_topology_are_those_of_its_description() -> None:
    def node(name: str, kind: int, **more: Any) -> dict[str, Any]:
        plain = {"source_topics": (), "sink_topic": None, "stores": (), "successors": ()}
        return {"name": name, "node_type": kind, **plain, **more}

    nodes = [
        node("read", 1, source_topics=["in"], successors=["count", "write"]),
        node("count", 2, stores=["counts"]),
        node("write", 3, sink_topic="out"),
        node("route", 3),
        node("later", 9),
    ]
    description = {
        "subtopologies": [{"subtopology_id": "0", "nodes": nodes}],
        "global_stores": [{"source": node("all", 1), "processor": node("keep", 2, stores=["rates"])}],
    }
    answer = answered(1, topology_description=description, topology_description_status=3)
    parts = Subtopology(id="0", source_topics=("in",)), Subtopology(id="1", changelogs=("app-x-changelog",))
    result = with_nodes(Topology(epoch=2, subtopologies=parts), answer.topology_description)
    read = TopologyNode(name="read", kind=NodeKind.SOURCE, topics=("in",), successors=("count", "write"))
    assert result.subtopologies[0].nodes == (
        read,
        TopologyNode(name="count", kind=NodeKind.PROCESSOR, stores=("counts",)),
        TopologyNode(name="write", kind=NodeKind.SINK, topics=("out",)),
        TopologyNode(name="route", kind=NodeKind.SINK),
        TopologyNode(name="later", kind=None),
    )
    assert (result.subtopologies[1].nodes, result.subtopologies[1].changelogs) == (None, ("app-x-changelog",))
    assert [node.name for node in result.global_nodes] == ["all", "keep"]


@pytest.mark.parametrize(
    ("owned", "kept"),
    [({"b": (1, 0), "a": (2,)}, {"a": (2,), "b": (0, 1)}), ({"a": ()}, None), ({}, None)],
)
def test_what_a_member_kept_when_it_rejoined_is_known(
    owned: dict[str, tuple[int, ...]], kept: dict[str, tuple[int, ...]] | None
) -> None:
    """Cooperative members keep partitions (`ownedPartitions`), eager ones none."""
    metadata = write_subscription(EmbeddedSubscription(version=3, topics=("a", "b"), owned=owned))
    bare = Group(id="g", type=GroupType.CLASSIC, state=GroupState.STABLE, protocol_type="consumer")
    group, _ = classic_group(bare, [(Member(id="m"), metadata, b"")], stable=True)
    assert group.members[0].kept == kept
