"""All record types of `__consumer_offsets` in Kafka 4.3, by number.

Source: the `coordinator-key` and `coordinator-value` definitions of kafka-group-coordinator 4.3.1.
"""

from collections.abc import Mapping

from wire.messages.definition import RecordType
from wire.messages.schemas.classic_groups import CLASSIC_GROUPS
from wire.messages.schemas.consumer_groups import CONSUMER_GROUPS
from wire.messages.schemas.offsets import OFFSETS
from wire.messages.schemas.share_groups import SHARE_GROUPS
from wire.messages.schemas.streams_groups import STREAMS_GROUPS

RECORD_TYPES: Mapping[int, RecordType] = {
    each.id: each for each in (*OFFSETS, *CLASSIC_GROUPS, *CONSUMER_GROUPS, *SHARE_GROUPS, *STREAMS_GROUPS)
}
