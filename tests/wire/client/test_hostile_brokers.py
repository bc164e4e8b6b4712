"""Whatever a broker answers, the client says what is wrong with it, in its own errors and in time."""

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from tests.conformance.messages import response_type, versions_of_kio
from tests.coordinator.server.extremes import extreme
from tests.wire.client.peer import peer
from tests.wire.client.scripted import ALL_APIS, broker
from tests.wire.client.test_client import coordinator, metadata
from tests.wire.messages.test_requests import plain
from wire.acls import ConfigResourceType
from wire.client.cluster import KafkaClient
from wire.client.errors import WireError
from wire.client.first_records import first_records
from wire.client.groups import describe_groups, list_groups
from wire.client.offsets import (
    EARLIEST,
    LATEST,
    alter_share_group_offsets,
    delete_share_group_offsets,
    fetch_offsets,
    fetch_share_offsets,
    offsets_at,
)
from wire.client.record_windows import record_windows
from wire.client.records_around import RecordsRequest, records_around
from wire.client.security import ConnectionSettings
from wire.client.settings import delete_topics, describe_configs
from wire.client.transactions import known_transactions, open_transactions
from wire.messages.definition import Api
from wire.messages.schemas.classic_groups import DESCRIBE_GROUPS
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_DESCRIBE
from wire.messages.schemas.share_groups import SHARE_GROUP_DESCRIBE
from wire.messages.schemas.streams_groups import STREAMS_GROUP_DESCRIBE

LIMIT_MS = 100
DESCRIBING = (DESCRIBE_GROUPS, CONSUMER_GROUP_DESCRIBE, SHARE_GROUP_DESCRIBE, STREAMS_GROUP_DESCRIBE)
QUESTIONS: dict[str, Callable[[KafkaClient], Any]] = {
    "features": lambda client: client.home().features,
    "metadata": lambda client: client.metadata(),
    "metadata of topics": lambda client: client.metadata(["a", ""]),
    "list": list_groups,
    "coordinators": lambda client: client.find_coordinators(["g", "h"]),
    "described": lambda client: [describe_groups(client, api, ["g"]) for api in DESCRIBING],
    "committed": lambda client: fetch_offsets(client, ["g"]),
    "share offsets": lambda client: fetch_share_offsets(client, ["g"]),
    "share offsets set": lambda client: alter_share_group_offsets(client, {"g": {("a", 0): 1}}),
    "share offsets deleted": lambda client: delete_share_group_offsets(client, {"g": ["a"]}),
    "topics deleted": lambda client: delete_topics(client, {"a": None}),
    "first records": lambda client: first_records(client, {("a", 0): [3, 9]}),
    "records around": lambda client: records_around(
        client, {("a", number): RecordsRequest(offset=9, before=4, after=number) for number in (1, 5)}
    ),
    "record windows": lambda client: record_windows(
        client, {("a", 0): RecordsRequest(offset=9, before=4, after=3)}
    ),
    "open transactions": lambda client: open_transactions(client, [("a", 0), ("", 1)]),
    "known transactions": lambda client: known_transactions(client, [5]),
    "ends": lambda client: offsets_at(client, [("a", 0), ("", 1)], [EARLIEST, LATEST]),
    "configs": lambda client: describe_configs(client, ConfigResourceType.GROUP, ["g"]),
    "brokers": lambda client: describe_configs(client, ConfigResourceType.BROKER, ["1"]),
}


@pytest.mark.parametrize("seed", range(10))
def test_nothing_but_errors_of_the_wire_escapes(seed: int) -> None:
    chance = random.Random(seed)

    def anything(api: Api) -> Callable[[int], Any]:
        return lambda version: plain(extreme(response_type(api.name, version), chance))

    answers = {api.name: anything(api) for api in ALL_APIS}
    versions = {
        api.name: (api.sent[0], chance.choice(versions_of_kio(api.name, *api.sent))) for api in ALL_APIS
    }
    with peer(broker(answers, versions)) as address:
        if seed % 2:
            answers |= {"Metadata": metadata(address), "FindCoordinator": coordinator(lambda: address)}
        with KafkaClient(ConnectionSettings(bootstrap_servers=(address,), api_timeout_ms=LIMIT_MS)) as client:
            for ask in QUESTIONS.values():
                with suppress(WireError):
                    ask(client)
