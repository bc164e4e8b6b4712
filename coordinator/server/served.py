"""The APIs that the server answers, with the versions that Kafka 4.3.1 lists for them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

from coordinator.server.exchange import Exchange
from wire.messages.apis import Api

Handler: TypeAlias = Callable[[Exchange], Awaitable[Mapping[str, Any]]]
"""Gives the fields of the newest response. PeerFault: there is none, the connection is closed."""


@dataclass(frozen=True, slots=True)
class ServedApi(Api):
    """One API with the versions it is listed with; a file of `apis/` that is called as its `package` answers it.

    `oldest` is the first version with a schema: Kafka lists Produce from 0 on and answers it from 3 on. Where the
    answer `grows` with all that the server knows, it may be long however short the request is.
    """

    oldest: int = 0
    grows: bool = False

    def serves(self, version: int) -> bool:
        return max(self.minimum, self.oldest) <= version <= self.maximum

    def handler(self) -> Handler:
        found: Handler = import_module(f"coordinator.server.apis.{self.package}").answer
        return found


def _api(name: str, key: int, minimum: int, maximum: int, **more: Any) -> ServedApi:
    package = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)[1:]
    return ServedApi(name, key, package, minimum, maximum, **more)


API_VERSIONS_KEY = 18
SERVED: Mapping[int, ServedApi] = {
    api.key: api
    for api in (
        _api("Produce", 0, 0, 13, oldest=3),
        _api("Fetch", 1, 4, 18),
        _api("ListOffsets", 2, 1, 11),
        _api("Metadata", 3, 0, 13, grows=True),
        _api("OffsetCommit", 8, 2, 10),
        _api("OffsetFetch", 9, 1, 10, grows=True),
        _api("FindCoordinator", 10, 0, 6),
        _api("JoinGroup", 11, 0, 9),
        _api("Heartbeat", 12, 0, 4),
        _api("LeaveGroup", 13, 0, 5),
        _api("SyncGroup", 14, 0, 5),
        _api("DescribeGroups", 15, 0, 6, grows=True),
        _api("ListGroups", 16, 0, 5, grows=True),
        _api("ApiVersions", API_VERSIONS_KEY, 0, 4),
        _api("CreateTopics", 19, 2, 7),
        _api("DeleteTopics", 20, 1, 6),
        _api("InitProducerId", 22, 0, 5),
        _api("DescribeConfigs", 32, 1, 4),
        _api("CreatePartitions", 37, 0, 3),
        _api("DeleteGroups", 42, 0, 2),
        _api("IncrementalAlterConfigs", 44, 0, 1),
        _api("OffsetDelete", 47, 0, 0),
        _api("DescribeCluster", 60, 0, 2),
        _api("ConsumerGroupHeartbeat", 68, 0, 1),
        _api("ConsumerGroupDescribe", 69, 0, 1, grows=True),
    )
}
"""By key."""
