"""Whatever a broker answers, the client says what is wrong with it, in its own errors and in time."""

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from tests.conformance.messages import response_type
from tests.coordinator.server.extremes import extreme
from tests.wire.client.peer import peer
from tests.wire.client.scripted import ALL_APIS, broker
from tests.wire.client.test_client import coordinator, metadata
from tests.wire.messages.test_requests import plain
from wire.client.client import Client
from wire.client.errors import WireError
from wire.client.security import ConnectionSettings
from wire.client.settings import ResourceType
from wire.messages.definition import Api
from wire.messages.schemas.classic_groups import DESCRIBE_GROUPS
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_DESCRIBE
from wire.messages.schemas.share_groups import SHARE_GROUP_DESCRIBE
from wire.messages.schemas.streams_groups import STREAMS_GROUP_DESCRIBE

LIMIT_MS = 100
DESCRIBING = (DESCRIBE_GROUPS, CONSUMER_GROUP_DESCRIBE, SHARE_GROUP_DESCRIBE, STREAMS_GROUP_DESCRIBE)
QUESTIONS: dict[str, Callable[[Client], Any]] = {
    "features": lambda client: client.features(timeout_ms=LIMIT_MS),
    "metadata": lambda client: client.metadata(timeout_ms=LIMIT_MS),
    "metadata of topics": lambda client: client.metadata(["a", ""], timeout_ms=LIMIT_MS),
    "list": lambda client: client.list_groups(timeout_ms=LIMIT_MS),
    "coordinators": lambda client: client.find_coordinators(["g", "h"], timeout_ms=LIMIT_MS),
    "described": lambda client: [client.describe(api, ["g"], timeout_ms=LIMIT_MS) for api in DESCRIBING],
    "committed": lambda client: client.committed_offsets(["g"], timeout_ms=LIMIT_MS),
    "share offsets": lambda client: client.share_group_offsets(["g"], timeout_ms=LIMIT_MS),
    "first records": lambda client: client.first_records({("a", 0): [3, 9]}, timeout_ms=LIMIT_MS),
    "ends": lambda client: client.end_offsets([("a", 0), ("", 1)], timeout_ms=LIMIT_MS),
    "configs": lambda client: client.describe_configs(ResourceType.GROUP, ["g"], timeout_ms=LIMIT_MS),
    "brokers": lambda client: client.describe_configs(ResourceType.BROKER, ["1"], timeout_ms=LIMIT_MS),
}


@pytest.mark.parametrize("seed", range(10))
def test_nothing_but_errors_of_the_wire_escapes(seed: int) -> None:
    """Answers are well formed and every field of them is at an end of its range; sometimes the way there is right."""
    chance = random.Random(seed)

    def anything(api: Api) -> Callable[[int], Any]:
        return lambda version: plain(extreme(response_type(api.name, version), chance))

    answers = {api.name: anything(api) for api in ALL_APIS}
    versions = {api.name: (api.sent[0], chance.randint(*api.sent)) for api in ALL_APIS}
    with peer(broker(answers, versions)) as address:
        if seed % 2:
            answers |= {"Metadata": metadata(address), "FindCoordinator": coordinator(lambda: address)}
        with Client(ConnectionSettings(bootstrap_servers=(address,))) as client:
            for ask in QUESTIONS.values():
                with suppress(WireError):
                    ask(client)
