"""Whatever a broker answers, the client says what is wrong with it, in its own errors and in time."""

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from tests.coordinator.server.extremes import extreme
from tests.wire.client.peer import peer
from tests.wire.client.scripted import broker
from tests.wire.client.test_client import coordinator, metadata
from wire.client.calls.describe_configs import ResourceType
from wire.client.client import Client
from wire.client.errors import WireError
from wire.client.security import ConnectionSettings
from wire.messages.apis import (
    ALL_APIS,
    CONSUMER_GROUP_DESCRIBE,
    DESCRIBE_GROUPS,
    SHARE_GROUP_DESCRIBE,
    STREAMS_GROUP_DESCRIBE,
    Api,
)

LIMIT_MS = 100
DESCRIBING = (DESCRIBE_GROUPS, CONSUMER_GROUP_DESCRIBE, SHARE_GROUP_DESCRIBE, STREAMS_GROUP_DESCRIBE)
QUESTIONS: dict[str, Callable[[Client], Any]] = {
    "features": lambda client: client.features(timeout_ms=LIMIT_MS),
    "metadata": lambda client: client.metadata(timeout_ms=LIMIT_MS),
    "metadata of topics": lambda client: client.metadata(["a", ""], timeout_ms=LIMIT_MS),
    "list": lambda client: client.list_groups(timeout_ms=LIMIT_MS),
    "coordinators": lambda client: client.find_coordinators(["g", "h"], timeout_ms=LIMIT_MS),
    "classic": lambda client: client.describe_groups(["g"], timeout_ms=LIMIT_MS),
    "consumer": lambda client: client.consumer_group_describe(["g"], timeout_ms=LIMIT_MS),
    "share": lambda client: client.share_group_describe(["g"], timeout_ms=LIMIT_MS),
    "streams": lambda client: client.streams_group_describe(["g"], timeout_ms=LIMIT_MS),
    "sizes": lambda client: [client.group_sizes(api, ["g"], timeout_ms=LIMIT_MS) for api in DESCRIBING],
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
        return lambda version: extreme(api.response_type(version), chance)

    answers = {api.name: anything(api) for api in ALL_APIS}
    versions = {api.name: (api.minimum, chance.randint(api.minimum, api.maximum)) for api in ALL_APIS}
    with peer(broker(answers, versions)) as address:
        if seed % 2:
            answers |= {"Metadata": metadata(address), "FindCoordinator": coordinator(lambda: address)}
        with Client(ConnectionSettings(bootstrap_servers=(address,))) as client:
            for ask in QUESTIONS.values():
                with suppress(WireError):
                    ask(client)
