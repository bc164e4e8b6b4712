"""A broker made of canned answers, for what a real one cannot be brought to say."""

import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tests.wire.client.peer import Script, answer, request
from wire.messages.schemas.admin import DELETE_TOPICS
from wire.messages.schemas.classic_groups import DESCRIBE_GROUPS
from wire.messages.schemas.cluster import API_VERSIONS, DESCRIBE_CONFIGS, METADATA
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_DESCRIBE
from wire.messages.schemas.groups import DELETE_GROUPS, FIND_COORDINATOR, LIST_GROUPS
from wire.messages.schemas.log_records import FETCH
from wire.messages.schemas.offsets import LIST_OFFSETS, OFFSET_COMMIT, OFFSET_DELETE, OFFSET_FETCH
from wire.messages.schemas.security import DESCRIBE_ACLS
from wire.messages.schemas.share_groups import (
    ALTER_SHARE_GROUP_OFFSETS,
    DELETE_SHARE_GROUP_OFFSETS,
    DESCRIBE_SHARE_GROUP_OFFSETS,
    SHARE_GROUP_DESCRIBE,
)
from wire.messages.schemas.streams_groups import STREAMS_GROUP_DESCRIBE

if TYPE_CHECKING:
    from wire.messages.schemas.cluster import ApiVersionsResponseFields

ALL_APIS = (
    FETCH,
    LIST_OFFSETS,
    METADATA,
    OFFSET_COMMIT,
    OFFSET_FETCH,
    FIND_COORDINATOR,
    DESCRIBE_GROUPS,
    LIST_GROUPS,
    API_VERSIONS,
    DESCRIBE_ACLS,
    DESCRIBE_CONFIGS,
    DELETE_GROUPS,
    OFFSET_DELETE,
    CONSUMER_GROUP_DESCRIBE,
    SHARE_GROUP_DESCRIBE,
    STREAMS_GROUP_DESCRIBE,
    DESCRIBE_SHARE_GROUP_OFFSETS,
    ALTER_SHARE_GROUP_OFFSETS,
    DELETE_SHARE_GROUP_OFFSETS,
    DELETE_TOPICS,
)
Answer = Callable[[int], Any]
"""Version to the fields of the response; those that the version does not have are left out."""


def broker(answers: Mapping[str, Answer], versions: Mapping[str, tuple[int, int]], newest: int = 4) -> Script:
    """A script for `peer`: it knows `versions` of APIs by name and answers them with `answers`. Its newest ApiVersions
    is `newest`; asked for a newer one it says so in version 0, as brokers do."""
    by_key = {api.key: api for api in ALL_APIS}
    known = {api.key: versions[api.name] for api in ALL_APIS if api.name in versions}
    known[API_VERSIONS.key] = (0, newest)

    def serve(connection: socket.socket) -> None:
        while True:
            key, version, correlation_id, _ = request(connection)
            api = by_key[key]
            if key == API_VERSIONS.key:
                answer(connection, correlation_id, api_versions(known, version, newest))
                continue
            fields = answers[api.name](version)
            answer(connection, correlation_id, api.encode_response(version, 0, fields)[4:])

    return serve


def api_versions(known: Mapping[int, tuple[int, int]], version: int, newest: int) -> bytes:
    """The answer to ApiVersions in `version`, of a broker that knows it up to `newest`."""
    fields: ApiVersionsResponseFields = {
        "error_code": 35 if version > newest else 0,
        "api_keys": [
            {"api_key": key, "min_version": low, "max_version": high} for key, (low, high) in known.items()
        ],
    }
    return API_VERSIONS.encode_response(version if version <= newest else 0, 0, fields)[4:]
