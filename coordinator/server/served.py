"""The APIs that the server answers, with the versions that Kafka 4.3.1 lists for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wire.messages.definition import Api
from wire.messages.schemas.classic_groups import (
    DESCRIBE_GROUPS,
    HEARTBEAT,
    JOIN_GROUP,
    LEAVE_GROUP,
    SYNC_GROUP,
)
from wire.messages.schemas.cluster import (
    API_VERSIONS,
    DESCRIBE_CLUSTER,
    DESCRIBE_CONFIGS,
    INCREMENTAL_ALTER_CONFIGS,
    METADATA,
)
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_DESCRIBE, CONSUMER_GROUP_HEARTBEAT
from wire.messages.schemas.groups import DELETE_GROUPS, FIND_COORDINATOR, LIST_GROUPS
from wire.messages.schemas.log_records import FETCH, INIT_PRODUCER_ID, PRODUCE
from wire.messages.schemas.offsets import LIST_OFFSETS, OFFSET_COMMIT, OFFSET_DELETE, OFFSET_FETCH
from wire.messages.schemas.topics import CREATE_PARTITIONS, CREATE_TOPICS, DELETE_TOPICS


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedApi:
    """One API with the versions it is listed with; `handlers` has what answers it.

    `oldest` is the first version listed where that is not the first with a layout: Kafka lists Produce from 0 on and
    answers it from 3 on. Where the answer `grows` with all that the server knows, it may be long however short the
    request is.
    """

    api: Api
    oldest: int
    grows: bool

    @property
    def key(self) -> int:
        return self.api.key

    @property
    def newest(self) -> int:
        return self.api.versions[1]

    def serves(self, version: int) -> bool:
        oldest, newest = self.api.versions
        return oldest <= version <= newest


def _served(api: Api, *, oldest: int | None = None, grows: bool = False) -> ServedApi:
    return ServedApi(api=api, oldest=api.versions[0] if oldest is None else oldest, grows=grows)


SERVED: Mapping[int, ServedApi] = {
    each.key: each
    for each in (
        _served(PRODUCE, oldest=0),
        _served(FETCH),
        _served(LIST_OFFSETS),
        _served(METADATA, grows=True),
        _served(OFFSET_COMMIT),
        _served(OFFSET_FETCH, grows=True),
        _served(FIND_COORDINATOR),
        _served(JOIN_GROUP),
        _served(HEARTBEAT),
        _served(LEAVE_GROUP),
        _served(SYNC_GROUP),
        _served(DESCRIBE_GROUPS, grows=True),
        _served(LIST_GROUPS, grows=True),
        _served(API_VERSIONS),
        _served(CREATE_TOPICS),
        _served(DELETE_TOPICS),
        _served(INIT_PRODUCER_ID),
        _served(DESCRIBE_CONFIGS),
        _served(CREATE_PARTITIONS),
        _served(DELETE_GROUPS),
        _served(INCREMENTAL_ALTER_CONFIGS),
        _served(OFFSET_DELETE),
        _served(DESCRIBE_CLUSTER),
        _served(CONSUMER_GROUP_HEARTBEAT),
        _served(CONSUMER_GROUP_DESCRIBE, grows=True),
    )
}
"""By key."""
