"""The client against brokers it rarely meets: old ones, moved coordinators, some of several down."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from groups.described import committed_offsets
from groups.model import CommittedOffset
from tests.wire.client.peer import closed_port, peer
from tests.wire.client.scripted import broker
from wire.client.client import KafkaClient
from wire.client.security import ConnectionSettings
from wire.messages.schemas.classic_groups import DESCRIBE_GROUPS
from wire.messages.schemas.cluster import METADATA
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_DESCRIBE
from wire.messages.schemas.groups import FIND_COORDINATOR, LIST_GROUPS
from wire.messages.schemas.offsets import OFFSET_FETCH


def metadata(*addresses: str) -> Callable[[int], Any]:
    """Answers Metadata with brokers at `addresses`, no topics."""
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
        place = {"node_id": 1, "host": host, "port": int(port), "error_code": 0, "error_message": ""}
        return {**place, "coordinators": [{"key": group, **place} for group in groups or ("g",)]}

    return respond


def client(*servers: str, **settings: Any) -> KafkaClient:
    return KafkaClient.connect(ConnectionSettings(bootstrap_servers=servers, **settings))


ALL = {api.name: api.sent for api in (METADATA, LIST_GROUPS, FIND_COORDINATOR, DESCRIBE_GROUPS)}


@pytest.mark.parametrize("api_versions", range(5))
def test_an_older_broker_is_asked_in_its_own_version(api_versions: int) -> None:
    answers: dict[str, Callable[[int], Any]] = {"ListGroups": listed("g")}
    with peer(broker(answers, ALL, api_versions)) as address:
        answers["Metadata"] = metadata(address)
        with client(address) as asking:
            assert [group.group_id for group in asking.list_groups().groups] == ["g"]


@pytest.mark.parametrize(
    ("newest", "state", "kind"),
    [(5, "Stable", "classic"), (4, "Stable", ""), (3, "", ""), (1, "", ""), (0, "", "")],
)
def test_what_an_old_broker_does_not_tell_of_a_group_is_empty(newest: int, state: str, kind: str) -> None:
    answers = {"ListGroups": listed("g")}
    with peer(broker(answers, ALL | {"ListGroups": (0, newest)})) as address:
        answers["Metadata"] = metadata(address)
        with client(address) as asking:
            listing = asking.list_groups()
            (group,) = listing.groups
            assert (group.group_id, group.protocol_type) == ("g", "consumer")
            assert (group.group_state, group.group_type) == (state, kind)


def test_a_broker_that_is_down_does_not_lose_the_others() -> None:
    answers = {"ListGroups": listed("b", "a")}
    with closed_port() as dead, peer(broker(answers, ALL)) as address:
        answers["Metadata"] = metadata(dead, address)
        with client(address) as asking:
            listing = asking.list_groups()
    assert [group.group_id for group in listing.groups] == ["a", "b"]
    assert list(listing.failed) == [dead]
    assert "connection refused" in listing.failed[dead].message
    assert "(advertised.listeners)" in listing.failed[dead].message
    assert listing.failed[dead].code is None


def test_a_broker_that_refuses_is_named_with_its_code() -> None:
    answers = {"ListGroups": listed(error=29)}
    with peer(broker(answers, ALL)) as address:
        answers["Metadata"] = metadata(address)
        with client(address) as asking:
            (failure,) = asking.list_groups().failed.values()
    assert (failure.code, failure.name) == (29, "TOPIC_AUTHORIZATION_FAILED")


def test_a_broker_that_still_loads_is_asked_again() -> None:
    replies = [listed(error=14), listed(error=14), listed("g")]
    answers: dict[str, Callable[[int], Any]] = {"ListGroups": lambda version: replies.pop(0)(version)}  # noqa: PLW0108
    with peer(broker(answers, ALL)) as address:
        answers["Metadata"] = metadata(address)
        with client(address) as asking:
            assert [group.group_id for group in asking.list_groups().groups] == ["g"]
    assert replies == []


def test_asking_again_ends_at_the_deadline() -> None:
    answers = {"ListGroups": listed(error=14)}
    with peer(broker(answers, ALL)) as address:
        answers["Metadata"] = metadata(address)
        with client(address, api_timeout_ms=2000) as asking:
            (failure,) = asking.list_groups().failed.values()
    assert failure.name == "COORDINATOR_LOAD_IN_PROGRESS"


@pytest.mark.parametrize("newest", [6, 4, 3, 0])
def test_a_coordinator_that_moved_is_looked_up_again(newest: int) -> None:
    versions = ALL | {"FindCoordinator": (0, newest)}
    places: list[str] = []
    answers: dict[str, Callable[[int], Any]] = {
        "FindCoordinator": coordinator(lambda: places.pop(0)),
        "DescribeGroups": described("", error=16),
    }
    with ExitStack() as stack:
        moved_to = stack.enter_context(peer(broker({"DescribeGroups": described("Stable")}, versions)))
        address = stack.enter_context(peer(broker(answers, versions)))
        answers["Metadata"] = metadata(address)
        with client(address) as asking:
            places += [address, moved_to]
            answer = asking.describe(DESCRIBE_GROUPS, ["g"])
            assert (answer.found["g"].group_state, answer.failed) == ("Stable", {})
            # It stays known: nothing is left to look up.
            assert asking.describe(DESCRIBE_GROUPS, ["g"]).found["g"].group_state == "Stable"


def test_the_broker_that_lists_a_group_is_asked_for_it() -> None:
    """Nobody answers FindCoordinator here."""
    answers = {"ListGroups": listed("g"), "DescribeGroups": described("Stable")}
    with peer(broker(answers, ALL)) as address:
        answers["Metadata"] = metadata(address)
        with client(address) as asking:
            assert asking.known_coordinators(["g"]) == {}
            asking.list_groups()
            assert asking.describe(DESCRIBE_GROUPS, ["g"]).found["g"].group_state == "Stable"
            known = asking.known_coordinators(["g", "h"])
            assert {group: str(place) for group, place in known.items()} == {"g": address}


def test_a_group_that_moved_since_it_was_listed_is_looked_up() -> None:
    answers: dict[str, Callable[[int], Any]] = {
        "ListGroups": listed("g"),
        "DescribeGroups": described("", error=16),
    }
    with ExitStack() as stack:
        moved_to = stack.enter_context(peer(broker({"DescribeGroups": described("Stable")}, ALL)))
        address = stack.enter_context(peer(broker(answers, ALL)))
        answers |= {"Metadata": metadata(address), "FindCoordinator": coordinator(lambda: moved_to)}
        with client(address) as asking:
            asking.list_groups()
            assert asking.describe(DESCRIBE_GROUPS, ["g"]).found["g"].group_state == "Stable"
            assert str(asking.known_coordinators(["g"])["g"]) == moved_to


def test_a_dead_coordinator_fails_its_groups_only() -> None:
    answers: dict[str, Callable[[int], Any]] = {}
    with closed_port() as dead, peer(broker(answers, ALL)) as address:
        answers |= {"Metadata": metadata(address), "FindCoordinator": coordinator(lambda: dead)}
        with client(address) as asking:
            answer = asking.describe(DESCRIBE_GROUPS, ["g"])
            assert answer.found == {}
            assert answer.failed["g"].message.startswith(f"{dead}: connection refused.")


def test_what_was_found_is_kept_when_a_second_look_up_fails() -> None:
    """The only broker knows the coordinator of "g" once; of "h" it says it moved, and then answers no more."""
    lookups = 0

    def coordinators(version: int) -> Any:
        nonlocal lookups
        lookups += 1
        if lookups > 1:
            raise ConnectionResetError
        return coordinator(lambda: address, "g", "h")(version)

    def both(_version: int) -> Any:
        return {"groups": [classic("g", "Stable"), classic("h", "Stable", 16)]}

    answers: dict[str, Callable[[int], Any]] = {"FindCoordinator": coordinators, "DescribeGroups": both}
    with peer(broker(answers, ALL)) as address:
        answers["Metadata"] = metadata(address)
        with client(address) as asking:
            answer = asking.describe(DESCRIBE_GROUPS, ["g", "h"])
    assert lookups > 1
    assert answer.found["g"].group_state == "Stable"
    assert answer.failed["h"].name == "NOT_COORDINATOR"


def test_a_broker_without_the_request_says_who_has_it() -> None:
    answers: dict[str, Callable[[int], Any]] = {}
    with peer(broker(answers, ALL)) as address:
        answers |= {"Metadata": metadata(address), "FindCoordinator": coordinator(lambda: address)}
        with client(address) as asking:
            failure = asking.describe(CONSUMER_GROUP_DESCRIBE, ["g"]).failed["g"]
    assert failure.message == (
        f"{address}: this broker does not answer {CONSUMER_GROUP_DESCRIBE.name}; Kafka 3.7 or newer does"
    )
    assert failure.name == "UNSUPPORTED_VERSION"


@pytest.mark.parametrize("version", range(2, 10))
def test_committed_offsets_in_every_version(version: int) -> None:
    partitions = [
        {
            "partition_index": 0,
            "committed_offset": 7,
            "committed_leader_epoch": 4,
            "metadata": None,
            "error_code": 0,
        },
        {
            "partition_index": 1,
            "committed_offset": -1,
            "committed_leader_epoch": 4,
            "metadata": "",
            "error_code": 29,
        },
    ]
    topics = [{"name": "orders", "partitions": partitions}]

    def fetched(_version: int) -> Any:
        return {"topics": topics, "groups": [{"group_id": "g", "topics": topics}]}

    answers: dict[str, Callable[[int], Any]] = {"OffsetFetch": fetched}
    with peer(broker(answers, ALL | {OFFSET_FETCH.name: (0, version)})) as address:
        answers |= {"Metadata": metadata(address), "FindCoordinator": coordinator(lambda: address)}
        with client(address) as asking:
            offsets = asking.committed_offsets(["g"]).found["g"]
    epoch = 4 if version >= 5 else None
    found, failed = committed_offsets(offsets)
    assert found == {"orders": {0: CommittedOffset(offset=7, leader_epoch=epoch, metadata="")}}
    assert failed["orders", 1].name == "TOPIC_AUTHORIZATION_FAILED"


def test_a_connection_closed_while_idle_is_made_again() -> None:
    import socket

    answers = {"ListGroups": listed("g")}
    serve = broker(answers, ALL)
    open_now: list[socket.socket] = []

    def script(connection: socket.socket) -> None:
        open_now.append(connection)
        serve(connection)

    with peer(script) as address:
        answers["Metadata"] = metadata(address)
        with client(address) as asking:
            assert asking.list_groups().groups
            open_now[-1].shutdown(socket.SHUT_RDWR)
            assert asking.list_groups().groups
        assert len(open_now) == 2


@pytest.mark.parametrize("newest", [6, 5, 4, 0])
def test_brokers_of_every_age_describe_groups(newest: int) -> None:
    member = {
        "member_id": "m",
        "client_id": "c",
        "client_host": "h",
        "member_metadata": b"1",
        "member_assignment": b"",
    }
    group = {**classic("g", "Stable"), "protocol_data": "range", "members": [member, member]}
    answers: dict[str, Callable[[int], Any]] = {
        "DescribeGroups": lambda _: {"groups": [group, classic("h", "", 30)]},
        "ListGroups": listed("g", "h"),
    }
    with peer(broker(answers, ALL | {"DescribeGroups": (0, newest)})) as address:
        answers["Metadata"] = metadata(address)
        with client(address) as asking:
            asking.list_groups()
            answer = asking.describe(DESCRIBE_GROUPS, ["g", "h"])
    assert (answer.found["g"].protocol_data, len(answer.found["g"].members)) == ("range", 2)
    assert answer.failed["h"].name == "GROUP_AUTHORIZATION_FAILED"
