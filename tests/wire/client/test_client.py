"""The client against brokers it rarely meets: old ones, moved coordinators, some of several down."""

import importlib
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest

from groups.model import CommittedOffset
from tests.wire.client.peer import closed_port, peer
from tests.wire.client.scripted import broker
from wire.client.calls.list_groups import ListedGroup
from wire.client.client import Client
from wire.client.security import ConnectionSettings
from wire.messages.apis import (
    CONSUMER_GROUP_DESCRIBE,
    DESCRIBE_GROUPS,
    FIND_COORDINATOR,
    LIST_GROUPS,
    METADATA,
    OFFSET_FETCH,
)

NOW = timedelta(0)


def schema(package: str, version: int) -> Any:
    return importlib.import_module(f"kio.schema.{package}.v{version}.response")


def metadata(*addresses: str) -> Callable[[int], Any]:
    """Answers Metadata with brokers at `addresses`, no topics."""

    def respond(version: int) -> Any:
        module = schema("metadata", version)
        brokers = tuple(
            module.MetadataResponseBroker(
                node_id=number, host=address.rpartition(":")[0], port=int(address.rpartition(":")[2])
            )
            for number, address in enumerate(addresses)
        )
        late: dict[str, Any] = {"controller_id": 0} if version >= 1 else {}
        late |= {"throttle_time": NOW} if version >= 3 else {}
        late |= {"error_code": 0} if version >= 13 else {}
        return module.MetadataResponse(brokers=brokers, topics=(), **late)

    return respond


def listed(*names: str, error: int = 0) -> Callable[[int], Any]:
    def respond(version: int) -> Any:
        module = schema("list_groups", version)
        fields: dict[str, Any] = {"protocol_type": "consumer"}
        if version >= 4:
            fields["group_state"] = "Stable"
        if version >= 5:
            fields["group_type"] = "classic"
        late = {"throttle_time": NOW} if version >= 1 else {}
        groups = tuple(module.ListedGroup(group_id=name, **fields) for name in names)
        return module.ListGroupsResponse(error_code=error, groups=groups, **late)

    return respond


def described(state: str, error: int = 0) -> Callable[[int], Any]:
    def respond(version: int) -> Any:
        module = schema("describe_groups", version)
        group = module.DescribedGroup(
            error_code=error, group_id="g", group_state=state, protocol_type="", protocol_data="", members=()
        )
        return module.DescribeGroupsResponse(groups=(group,), throttle_time=NOW)

    return respond


def coordinator(address: Callable[[], str]) -> Callable[[int], Any]:
    """Answers FindCoordinator for group "g"."""

    def respond(version: int) -> Any:
        module = schema("find_coordinator", version)
        host, _, port = address().rpartition(":")
        if version >= 4:
            entry = module.Coordinator(
                key="g", node_id=1, host=host, port=int(port), error_code=0, error_message=""
            )
            return module.FindCoordinatorResponse(throttle_time=NOW, coordinators=(entry,))
        fields = {"throttle_time": NOW, "error_message": None} if version >= 1 else {}
        return module.FindCoordinatorResponse(error_code=0, node_id=1, host=host, port=int(port), **fields)

    return respond


def client(*servers: str, **settings: Any) -> Client:
    return Client.connect(ConnectionSettings(bootstrap_servers=servers, **settings), timeout_ms=60_000)


ALL = {
    api.name: (api.minimum, api.maximum) for api in (METADATA, LIST_GROUPS, FIND_COORDINATOR, DESCRIBE_GROUPS)
}


@pytest.mark.parametrize("api_versions", range(5))
def test_an_older_broker_is_asked_in_its_own_version(api_versions: int) -> None:
    answers: dict[str, Callable[[int], Any]] = {"ListGroups": listed("g")}
    with peer(broker(answers, ALL, api_versions)) as address:
        answers["Metadata"] = metadata(address)
        with client(address) as asking:
            assert [group.group_id for group in asking.list_groups().groups] == ["g"]


@pytest.mark.parametrize(
    ("newest", "state", "kind"),
    [(5, "Stable", "classic"), (4, "Stable", None), (3, None, None), (1, None, None), (0, None, None)],
)
def test_what_an_old_broker_does_not_tell_of_a_group_is_unknown(
    newest: int, state: str | None, kind: str | None
) -> None:
    answers = {"ListGroups": listed("g")}
    with peer(broker(answers, ALL | {"ListGroups": (0, newest)})) as address:
        answers["Metadata"] = metadata(address)
        with client(address) as asking:
            listing = asking.list_groups()
            assert listing.groups == (
                ListedGroup(group_id="g", protocol_type="consumer", state=state, group_type=kind),
            )
            if newest < 5:
                assert asking.list_groups(types=["share"]).groups == ()
            if newest < 4:
                (failure,) = asking.list_groups(states=["Stable"]).failed.values()
                assert "does not tell the states of groups; Kafka 2.6 or newer does" in failure.message


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
        with client(address) as asking:
            (failure,) = asking.list_groups(timeout_ms=2000).failed.values()
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
            answer = asking.describe_groups(["g"])
            assert (answer.found["g"].state, answer.failed) == ("Stable", {})
            # It stays known: nothing is left to look up.
            assert asking.describe_groups(["g"]).found["g"].state == "Stable"


def test_the_broker_that_lists_a_group_is_asked_for_it() -> None:
    """Nobody answers FindCoordinator here."""
    answers = {"ListGroups": listed("g"), "DescribeGroups": described("Stable")}
    with peer(broker(answers, ALL)) as address:
        answers["Metadata"] = metadata(address)
        with client(address) as asking:
            assert asking.known_coordinators(["g"]) == {}
            asking.list_groups()
            assert asking.describe_groups(["g"]).found["g"].state == "Stable"
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
            assert asking.describe_groups(["g"]).found["g"].state == "Stable"
            assert str(asking.known_coordinators(["g"])["g"]) == moved_to


def test_a_dead_coordinator_fails_its_groups_only() -> None:
    answers: dict[str, Callable[[int], Any]] = {}
    with closed_port() as dead, peer(broker(answers, ALL)) as address:
        answers |= {"Metadata": metadata(address), "FindCoordinator": coordinator(lambda: dead)}
        with client(address) as asking:
            answer = asking.describe_groups(["g"])
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
        module, (host, _, port) = schema("find_coordinator", version), address.rpartition(":")
        entries = tuple(
            module.Coordinator(key=key, node_id=1, host=host, port=int(port), error_code=0, error_message="")
            for key in ("g", "h")
        )
        return module.FindCoordinatorResponse(throttle_time=NOW, coordinators=entries)

    def both(version: int) -> Any:
        module = schema("describe_groups", version)
        fields = {"protocol_type": "", "protocol_data": "", "members": ()}
        groups = tuple(
            module.DescribedGroup(error_code=error, group_id=name, group_state="Stable", **fields)
            for name, error in (("g", 0), ("h", 16))
        )
        return module.DescribeGroupsResponse(groups=groups, throttle_time=NOW)

    answers: dict[str, Callable[[int], Any]] = {"FindCoordinator": coordinators, "DescribeGroups": both}
    with peer(broker(answers, ALL)) as address:
        answers["Metadata"] = metadata(address)
        with client(address) as asking:
            answer = asking.describe_groups(["g", "h"])
    assert lookups > 1
    assert answer.found["g"].state == "Stable"
    assert answer.failed["h"].name == "NOT_COORDINATOR"


def test_a_broker_without_the_request_says_who_has_it() -> None:
    answers: dict[str, Callable[[int], Any]] = {}
    with peer(broker(answers, ALL)) as address:
        answers |= {"Metadata": metadata(address), "FindCoordinator": coordinator(lambda: address)}
        with client(address) as asking:
            failure = asking.consumer_group_describe(["g"]).failed["g"]
    assert failure.message == (
        f"{address}: this broker does not answer {CONSUMER_GROUP_DESCRIBE.name}; Kafka 3.7 or newer does"
    )
    assert failure.name == "UNSUPPORTED_VERSION"


@pytest.mark.parametrize("version", range(2, 10))
def test_committed_offsets_in_every_version(version: int) -> None:
    def fetched(asked: int) -> Any:
        module = schema("offset_fetch", asked)
        new = asked >= 8
        partition = getattr(
            module, "OffsetFetchResponsePartitions" if new else "OffsetFetchResponsePartition"
        )
        topic = getattr(module, "OffsetFetchResponseTopics" if new else "OffsetFetchResponseTopic")
        epoch = {"committed_leader_epoch": 4} if asked >= 5 else {}
        topics = (
            topic(
                name="orders",
                partitions=(
                    partition(partition_index=0, committed_offset=7, metadata=None, error_code=0, **epoch),
                    partition(partition_index=1, committed_offset=-1, metadata="", error_code=29, **epoch),
                ),
            ),
        )
        late = {"throttle_time": NOW} if asked >= 3 else {}
        if not new:
            return module.OffsetFetchResponse(topics=topics, error_code=0, **late)
        group = module.OffsetFetchResponseGroup(group_id="g", topics=topics, error_code=0)
        return module.OffsetFetchResponse(groups=(group,), **late)

    answers: dict[str, Callable[[int], Any]] = {"OffsetFetch": fetched}
    with peer(broker(answers, ALL | {OFFSET_FETCH.name: (0, version)})) as address:
        answers |= {"Metadata": metadata(address), "FindCoordinator": coordinator(lambda: address)}
        with client(address) as asking:
            offsets = asking.committed_offsets(["g"]).found["g"]
    epoch = 4 if version >= 5 else None
    assert offsets.offsets == {"orders": {0: CommittedOffset(offset=7, leader_epoch=epoch, metadata="")}}
    assert offsets.failed["orders", 1].name == "TOPIC_AUTHORIZATION_FAILED"


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
