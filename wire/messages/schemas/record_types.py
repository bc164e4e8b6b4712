"""All record types of `__consumer_offsets` that Kafka 4.3 knows, by number.

Source: the `coordinator-key` and `coordinator-value` definitions of kafka-group-coordinator 4.3.1.
"""

from collections.abc import Mapping

from coordinator.storage.schema import RecordType
from coordinator.storage.schemas.classic_groups import CLASSIC_GROUPS
from coordinator.storage.schemas.consumer_groups import CONSUMER_GROUPS
from coordinator.storage.schemas.offsets import OFFSETS
from coordinator.storage.schemas.share_groups import SHARE_GROUPS
from coordinator.storage.schemas.streams_groups import STREAMS_GROUPS

RECORD_TYPES: Mapping[int, RecordType] = {
    each.id: each for each in (*OFFSETS, *CLASSIC_GROUPS, *CONSUMER_GROUPS, *SHARE_GROUPS, *STREAMS_GROUPS)
}
