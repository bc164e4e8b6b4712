"""`kohort-streams-groups --describe --topology`: the text of Kafka's TopologyDescriptionFormatter (4.4.0) for the same
topology. A broker has one only with a plugin (KIP-1331)."""

from cli.dropin.streams_groups import topology_text
from groups.streams import NodeKind, Subtopology, Topology, TopologyNode

TOPOLOGY = Topology(
    epoch=0,
    subtopologies=(
        Subtopology(
            id="0",
            nodes=(
                TopologyNode(
                    name="KSTREAM-SOURCE-0", kind=NodeKind.SOURCE, topics=("orders", "audits"),
                    successors=("KSTREAM-MAP-1", "KSTREAM-AGG-2"),
                ),
                TopologyNode(name="KSTREAM-MAP-1", kind=NodeKind.PROCESSOR, successors=("KSTREAM-SINK-3",)),
                TopologyNode(name="KSTREAM-AGG-2", kind=NodeKind.PROCESSOR, stores=("b-store", "a-store")),
                TopologyNode(name="KSTREAM-SINK-3", kind=NodeKind.SINK, topics=("out",)),
            ),
        ),
        Subtopology(id="1", nodes=(TopologyNode(name="KSTREAM-SINK-4", kind=NodeKind.SINK),)),
    ),
    global_nodes=(
        TopologyNode(name="G-SOURCE", kind=NodeKind.SOURCE, topics=("rates",), successors=("G-PROC",)),
        TopologyNode(name="G-PROC", kind=NodeKind.PROCESSOR, stores=("rates-store",)),
    ),
)  # fmt: skip
TEXT = """Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0 (topics: [audits, orders])
      --> KSTREAM-AGG-2, KSTREAM-MAP-1
    Processor: KSTREAM-MAP-1 (stores: [])
      --> KSTREAM-SINK-3
      <-- KSTREAM-SOURCE-0
    Processor: KSTREAM-AGG-2 (stores: [a-store, b-store])
      --> none
      <-- KSTREAM-SOURCE-0
    Sink: KSTREAM-SINK-3 (topic: out)
      <-- KSTREAM-MAP-1

   Sub-topology: 1
    Sink: KSTREAM-SINK-4 (topic: null)
      <-- none

   Sub-topology: 2 for global store (will not generate tasks)
    Source: G-SOURCE (topics: [rates])
      --> G-PROC
    Processor: G-PROC (stores: [rates-store])
      --> none
      <-- G-SOURCE

"""


def test_a_topology_has_the_text_of_the_tool() -> None:
    assert topology_text(TOPOLOGY) == TEXT
