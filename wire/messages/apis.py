"""Kinds of requests and kio's schemas of their versions, and which of them the client sends.

A schema module is imported when its version is agreed on, never before: each costs 3 to 6 ms.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True)
class Api:
    """One kind of request: Kafka's name and key, and the versions that kio has a schema of.

    `since` names the Kafka release whose brokers first answer it, for messages.
    """

    name: str
    key: int
    package: str
    minimum: int
    maximum: int
    since: str = "0.11"

    def request_schema(self, version: int) -> Any:
        """The module with the request and its parts."""
        return import_module(f"kio.schema.{self.package}.v{version}.request")

    def request_type(self, version: int) -> Any:
        """The class of the whole request."""
        return getattr(self.request_schema(version), self.name + "Request")

    def response_type(self, version: int) -> Any:
        """The class of the whole response."""
        module = import_module(f"kio.schema.{self.package}.v{version}.response")
        return getattr(module, self.name + "Response")

    def agree(self, minimum: int, maximum: int) -> int | None:
        """The newest version in common with a broker that knows `minimum` to `maximum`, if there is one."""
        best = min(self.maximum, maximum)
        return best if best >= max(self.minimum, minimum) else None


FETCH = Api("Fetch", 1, "fetch", 4, 12)
LIST_OFFSETS = Api("ListOffsets", 2, "list_offsets", 1, 11)
METADATA = Api("Metadata", 3, "metadata", 0, 13)
OFFSET_COMMIT = Api("OffsetCommit", 8, "offset_commit", 2, 9)
OFFSET_FETCH = Api("OffsetFetch", 9, "offset_fetch", 2, 9)
FIND_COORDINATOR = Api("FindCoordinator", 10, "find_coordinator", 0, 6)
DESCRIBE_GROUPS = Api("DescribeGroups", 15, "describe_groups", 0, 6)
LIST_GROUPS = Api("ListGroups", 16, "list_groups", 0, 5)
SASL_HANDSHAKE = Api("SaslHandshake", 17, "sasl_handshake", 1, 1, "1.0")
API_VERSIONS = Api("ApiVersions", 18, "api_versions", 0, 4)
DESCRIBE_ACLS = Api("DescribeAcls", 29, "describe_acls", 1, 3, "2.0")
DESCRIBE_CONFIGS = Api("DescribeConfigs", 32, "describe_configs", 1, 4)
DELETE_GROUPS = Api("DeleteGroups", 42, "delete_groups", 0, 2, "1.1")
OFFSET_DELETE = Api("OffsetDelete", 47, "offset_delete", 0, 0, "2.4")
SASL_AUTHENTICATE = Api("SaslAuthenticate", 36, "sasl_authenticate", 0, 2, "1.0")
CONSUMER_GROUP_DESCRIBE = Api("ConsumerGroupDescribe", 69, "consumer_group_describe", 0, 1, "3.7")
SHARE_GROUP_DESCRIBE = Api("ShareGroupDescribe", 77, "share_group_describe", 1, 1, "4.1")
STREAMS_GROUP_DESCRIBE = Api("StreamsGroupDescribe", 89, "streams_group_describe", 0, 0, "4.1")
DESCRIBE_SHARE_GROUP_OFFSETS = Api(
    "DescribeShareGroupOffsets", 90, "describe_share_group_offsets", 0, 1, "4.1"
)

ALL_APIS = (
    FETCH,
    LIST_OFFSETS,
    METADATA,
    OFFSET_COMMIT,
    OFFSET_FETCH,
    FIND_COORDINATOR,
    DESCRIBE_GROUPS,
    LIST_GROUPS,
    SASL_HANDSHAKE,
    API_VERSIONS,
    DESCRIBE_ACLS,
    DESCRIBE_CONFIGS,
    SASL_AUTHENTICATE,
    DELETE_GROUPS,
    OFFSET_DELETE,
    CONSUMER_GROUP_DESCRIBE,
    SHARE_GROUP_DESCRIBE,
    STREAMS_GROUP_DESCRIBE,
    DESCRIBE_SHARE_GROUP_OFFSETS,
)
