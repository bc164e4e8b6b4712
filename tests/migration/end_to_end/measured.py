"""What happened to a deployment: the figures of a rehearsal, measured.

Rebalances are counted in the log of the broker, by the rule of the simulation; the rest in what the consumers wrote
down. Refused commits show in neither, and are not measured.
"""

import time
from collections.abc import Iterable, Iterator
from itertools import pairwise

from coordinator.engine.records import ClassicGroupRecord, TargetEpochRecord
from coordinator.simulation.measures import Measures
from coordinator.simulation.node import LogAppend
from coordinator.simulation.schedule import Schedule
from coordinator.store.partition_files import partition_for
from coordinator.store.records import decode_record
from migration.rehearsal.simulation import RehearsalCosts
from tests.kafka.broker import Broker
from tests.kafka.settings import DEFAULTS
from tests.migration.end_to_end.consumption import repeated, stays, without_owner_s
from tests.migration.end_to_end.deployment import Deployment
from tests.migration.end_to_end.journal import Journal
from wire.log.log_records import records_of
from wire.log.segments import read_segment


def costs_of(deployment: Deployment, from_ns: int) -> RehearsalCosts:
    """From a moment of the monotonic clock up to now; of rebalances and partitions moved, all there were."""
    journals = deployment.journals()
    return RehearsalCosts(
        rebalances=rebalances(deployment.broker, deployment.group),
        moved=moved(journals),
        without_owner_s=round(without_owner_s(journals, from_ns, time.monotonic_ns()), 3),
        read_twice=sum(len(readers) - 1 for *_, readers in repeated(journals)),
    )


def rebalances(broker: Broker, group: str) -> int:
    """Generations of the classic protocol and target assignments of the consumer protocol, as the log has them."""
    measures = Measures(Schedule())
    measures.appended(LogAppend(list(_rebalancing(broker, group))))
    return measures.rebalances


def _rebalancing(broker: Broker, group: str) -> Iterator[ClassicGroupRecord | TargetEpochRecord]:
    number = partition_for(group, int(DEFAULTS["offsets.topic.num.partitions"]))
    for file in sorted((broker.data / f"__consumer_offsets-{number}").glob("*.log")):
        segment = read_segment(file)
        for batch in segment.batches:
            for record in () if batch.is_control else records_of(batch, segment.data):
                decoded = decode_record(record.key or b"", record.value)
                if isinstance(decoded, ClassicGroupRecord | TargetEpochRecord) and decoded.group == group:
                    yield decoded


def moved(journals: Iterable[Journal]) -> int:
    """How often a partition moved to another consumer; a restarted one counts as the same."""
    return sum(
        one.member.rpartition(".")[0] != other.member.rpartition(".")[0]
        for them in stays(journals).values()
        for one, other in pairwise(them)
    )
