"""The client against brokers it rarely meets: old ones, moved coordinators, some of several down."""

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from groups.described import committed_offsets
from groups.model import CommittedOffset
from tests.wire.client.peer import black_hole, closed_port, peer
from tests.wire.client.scripted import broker
from wire.client.cluster import KafkaClient
from wire.client.groups import describe_groups, list_groups
from wire.client.offsets import fetch_offsets
from wire.client.security import ConnectionSettings
from wire.messages.schemas.classic_groups import DESCRIBE_GROUPS
from wire.messages.schemas.cluster import METADATA
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_DESCRIBE
from wire.messages.schemas.groups import FIND_COORDINATOR, LIST_GROUPS
from wire.messages.schemas.offsets import OFFSET_FETCH

Answers = dict[str, Callable[[int], Any]]  # by the name of the API; see `scripted.Answer`


def metadata(*addresses: str) -> Callable[[int], Any]:
    brokers = [
        {"node_id": number, "host": address.rpartition(":")[0], "port": int(address.rpartition(":")[2])}
        for number, address in enumerate(addresses)
    ]
    return lambda _: {"brokers": brokers, "topics": (), "controller_id": 0, "error_code": 0}


def listed(*names: str, error: int = 0) -> Callable[[int], Any]:
    fields = {"protocol_type": "consumer", "group_state": "Stable", "group_type": "classic"}
    return lambda _: {"error_code": error, "groups": [{"group_id": name, **fields} for name in names]}


def classic(name: str, state: str, error: int = 0) -> dict[str, Any]:
    fields = {"group_state": state, "protocol_type": "", "protocol_data": "", "members": ()}
    return {"error_code": error, "group_id": name, **fields}


def described(state: str, error: int = 0) -> Callable[[int], Any]:
    return lambda _: {"groups": [classic("g", state, error)]}


def coordinator(address: Callable[[], str], *groups: str) -> Callable[[int], Any]:
    """Answers FindCoordinator for `groups`, by default for group "g"."""

    def respond(_version: int) -> Any:
        host, _, port = address().rpartition(":")
        node = {"node_id": 1, "host": host, "port": int(port), "error_code": 0, "error_message": ""}
        return {**node, "coordinators": [{"key": group, **node} for group in groups or ("g",)]}

    return respond


ALL = {api.name: api.sent for api in (METADATA, LIST_GROUPS, FIND_COORDINATOR, DESCRIBE_GROUPS)}


@contextmanager
def client_of(
    answers: Answers,
    versions: Mapping[str, tuple[int, int]] = ALL,
    newest: int = 4,
    *,
    coordinates: bool = False,
    **settings: Any,
) -> Iterator[KafkaClient]:
    """A client of a broker of these answers: the only one of its cluster and, if it `coordinates`, of all groups."""
    with peer(broker(answers, versions, newest)) as address:
        answers.setdefault("Metadata", metadata(address))
        if coordinates:
            answers["FindCoordinator"] = coordinator(lambda: address, "g", "h")
        with KafkaClient(ConnectionSettings(bootstrap_servers=(address,), **settings)) as client:
            yield client


@pytest.mark.parametrize(
    ("api_versions", "newest", "state", "kind"),
    [(4, 5, "Stable", "classic"), (3, 4, "Stable", ""), (2, 3, "", ""), (1, 1, "", ""), (0, 0, "", "")],
)
def test_an_older_broker_is_asked_in_its_own_version(
    api_versions: int, newest: int, state: str, kind: str
) -> None:
    versions = ALL | {"ListGroups": (0, newest)}
    with client_of({"ListGroups": listed("g")}, versions, api_versions) as client:
        (group,) = list_groups(client).groups
    assert (group.group_id, group.protocol_type) == ("g", "consumer")
    assert (group.group_state, group.group_type) == (state, kind)


@pytest.mark.parametrize(
    ("outage", "reason"), [(closed_port, "connection refused"), (black_hole, "timed out connecting")]
)
def test_a_broker_that_is_down_does_not_lose_the_others(
    outage: Callable[[], AbstractContextManager[str]], reason: str
) -> None:
    answers: Answers = {"ListGroups": listed("b", "a")}
    with outage() as dead, peer(broker(answers, ALL)) as address:
        answers["Metadata"] = metadata(dead, address)
        settings = ConnectionSettings(bootstrap_servers=(address,), connection_setup_timeout_ms=300)
        with KafkaClient(settings) as client:
            listing = list_groups(client)
    assert ([group.group_id for group in listing.groups], list(listing.failed)) == (["a", "b"], [dead])
    assert reason in listing.failed[dead].message
    assert "(advertised.listeners)" in listing.failed[dead].message
    assert listing.failed[dead].code is None


def test_a_broker_that_still_loads_is_asked_again() -> None:
    replies = [listed(error=14), listed(error=14), listed("g")]
    with client_of({"ListGroups": lambda version: replies.pop(0)(version)}) as client:  # noqa: PLW0108
        assert [group.group_id for group in list_groups(client).groups] == ["g"]
    assert replies == []


def test_asking_again_ends_at_the_deadline() -> None:
    with client_of({"ListGroups": listed(error=14)}, api_timeout_ms=2000) as client:
        (failure,) = list_groups(client).failed.values()
    assert failure.name == "COORDINATOR_LOAD_IN_PROGRESS"


@pytest.mark.parametrize("newest", [6, 4, 3, 0])
def test_a_coordinator_that_moved_is_looked_up_again(newest: int) -> None:
    versions = ALL | {"FindCoordinator": (0, newest)}
    places: list[str] = []
    answers: Answers = {
        "FindCoordinator": coordinator(lambda: places.pop(0)),
        "DescribeGroups": described("", error=16),
    }
    moved_to = peer(broker({"DescribeGroups": described("Stable")}, versions))
    with moved_to as new_place, client_of(answers, versions) as client:
        places += [str(client.home().address), new_place]
        answer = describe_groups(client, DESCRIBE_GROUPS, ["g"])
        assert (answer.found["g"].group_state, answer.failed) == ("Stable", {})
        # It stays known: nothing is left to look up.
        assert describe_groups(client, DESCRIBE_GROUPS, ["g"]).found["g"].group_state == "Stable"


def test_the_broker_that_lists_a_group_is_asked_for_it() -> None:
    with client_of({"ListGroups": listed("g"), "DescribeGroups": described("Stable")}) as client:
        assert client.known_coordinators(["g"]) == {}
        list_groups(client)
        assert describe_groups(client, DESCRIBE_GROUPS, ["g"]).found["g"].group_state == "Stable"
        assert client.known_coordinators(["g", "h"]) == {"g": client.home().address}


def test_a_dead_coordinator_fails_its_groups_only() -> None:
    with closed_port() as dead, client_of({"FindCoordinator": coordinator(lambda: dead)}) as client:
        answer = describe_groups(client, DESCRIBE_GROUPS, ["g"])
    assert answer.found == {}
    assert answer.failed["g"].message.startswith(f"{dead}: connection refused.")


def test_results_are_kept_when_a_second_lookup_fails() -> None:
    both = {"groups": [classic("g", "Stable"), classic("h", "Stable", 16)]}
    answers: Answers = {"DescribeGroups": lambda _: both}
    lookups = 0
    with client_of(answers, coordinates=True) as client:
        known = answers["FindCoordinator"]

        def coordinators(version: int) -> Any:
            nonlocal lookups
            lookups += 1
            if lookups > 1:
                raise ConnectionResetError
            return known(version)

        answers["FindCoordinator"] = coordinators
        answer = describe_groups(client, DESCRIBE_GROUPS, ["g", "h"])
    assert lookups > 1
    assert (answer.found["g"].group_state, answer.failed["h"].name) == ("Stable", "NOT_COORDINATOR")


def test_an_unsupported_request_names_the_release_that_has_it() -> None:
    with client_of({}, coordinates=True) as client:
        address = client.home().address
        failure = describe_groups(client, CONSUMER_GROUP_DESCRIBE, ["g"]).failed["g"]
    assert failure.message == (
        f"{address}: this broker does not answer {CONSUMER_GROUP_DESCRIBE.name}; Kafka 3.7 or newer does, "
        "unless a gateway hides it"
    )
    assert failure.name == "UNSUPPORTED_VERSION"


@pytest.mark.parametrize("version", range(2, 10))
def test_committed_offsets_in_every_version(version: int) -> None:
    names = ("partition_index", "committed_offset", "committed_leader_epoch", "metadata", "error_code")
    rows = ((0, 7, 4, None, 0), (1, -1, 4, "", 29))
    topics = [{"name": "orders", "partitions": [dict(zip(names, row, strict=True)) for row in rows]}]
    fetched = {"topics": topics, "groups": [{"group_id": "g", "topics": topics}]}
    versions = ALL | {OFFSET_FETCH.name: (0, version)}
    with client_of({"OffsetFetch": lambda _: fetched}, versions, coordinates=True) as client:
        offsets = fetch_offsets(client, ["g"]).found["g"]
    epoch = 4 if version >= 5 else None
    committed, failed = committed_offsets(offsets)
    assert committed == {"orders": {0: CommittedOffset(offset=7, leader_epoch=epoch, metadata="")}}
    assert failed["orders", 1].name == "TOPIC_AUTHORIZATION_FAILED"


def test_a_connection_closed_while_idle_is_reopened() -> None:
    answers: Answers = {"ListGroups": listed("g")}
    serve = broker(answers, ALL)
    open_now: list[socket.socket] = []

    def script(connection: socket.socket) -> None:
        open_now.append(connection)
        serve(connection)

    with peer(script) as address:
        answers["Metadata"] = metadata(address)
        with KafkaClient(ConnectionSettings(bootstrap_servers=(address,))) as client:
            assert list_groups(client).groups
            open_now[-1].shutdown(socket.SHUT_RDWR)
            assert list_groups(client).groups
        assert len(open_now) == 2
