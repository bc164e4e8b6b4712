"""The requests that a rule matches, and for how long."""

from typing import Any
from uuid import UUID

import pytest

from coordinator.faults import AnswerError, Delay, Drop, Dropped
from coordinator.server.faults.rules import FaultEffect, IncomingRequest, Rules
from wire.messages.definition import Api
from wire.messages.schemas.classic_groups import HEARTBEAT
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_HEARTBEAT
from wire.messages.schemas.groups import FIND_COORDINATOR
from wire.messages.schemas.log_records import FETCH, PRODUCE
from wire.messages.schemas.offsets import OFFSET_COMMIT, OFFSET_FETCH

ORDERS_ID = UUID(int=7)
TOPIC_PARTITION = {"partition_index": 0, "committed_offset": 1, "committed_metadata": None}
FETCH_FIELDS = {"max_wait_ms": 1, "min_bytes": 1, "forgotten_topics_data": []}
FETCHED = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1}
FETCHED_OFFSETS = {"name": "orders", "partition_indexes": [0]}
CONSUMER_HEART = {
    "group_id": "billing",
    "member_id": "m-1",
    "member_epoch": 0,
    "subscribed_topic_names": ["orders"],
    "topic_partitions": None,
}
PRODUCED = {"acks": 1, "timeout_ms": 1, "topic_data": [{"name": "orders", "partition_data": []}]}
FOUND = {"key": "billing", "key_type": 0, "coordinator_keys": ["billing"]}
GROUP: tuple[set[str], set[str]] = {"billing"}, set()
TOPIC: tuple[set[str], set[str]] = set(), {"orders"}
BOTH = {"billing"}, {"orders"}
HEART: dict[str, Any] = {"group_id": "billing", "generation_id": 1, "member_id": "m-1"}


def asked(api: Api, version: int, fields: dict[str, Any], client_id: str = "app-1") -> IncomingRequest:
    client_id, message = api.decode_request(version, api.encode_request(version, 1, client_id, fields))
    name_of = {ORDERS_ID: "orders"}.get
    return IncomingRequest(api=api, version=version, client_id=client_id, message=message, name_of=name_of)


def heartbeat(client_id: str = "app-1") -> IncomingRequest:
    return asked(HEARTBEAT, 4, HEART, client_id)


@pytest.mark.parametrize(
    ("conditions", "is_met"),
    [
        ({}, True),
        ({"api": ("Heartbeat",)}, True),
        ({"api": ("SyncGroup", "Heartbeat")}, True),
        ({"api": ("SyncGroup",)}, False),
        ({"client": "app-1"}, True),
        ({"client": "app-*"}, True),
        ({"client": "app"}, False),
        ({"group": "billing"}, True),
        ({"group": "b*"}, True),
        ({"group": "orders"}, False),
        ({"member": "m-1"}, True),
        ({"member": "m-2"}, False),
        ({"topic": "orders"}, False),
        ({"client": "app-1", "group": "orders"}, False),
    ],
)
def test_a_request_is_met_if_it_fits_every_condition(conditions: dict[str, Any], is_met: bool) -> None:
    rules = Rules()
    rules.add(Delay(bounds_s=(1, 1), **conditions), 0)
    assert rules.judge(heartbeat(), 0) == (FaultEffect(1000) if is_met else None)


@pytest.mark.parametrize(
    ("api", "version", "fields", "named"),
    [
        (OFFSET_COMMIT, 9, {**HEART, "topics": [{"name": "orders", "partitions": [TOPIC_PARTITION]}]}, BOTH),
        (
            OFFSET_COMMIT,
            10,
            {**HEART, "topics": [{"topic_id": ORDERS_ID, "partitions": [TOPIC_PARTITION]}]},
            BOTH,
        ),
        (OFFSET_FETCH, 5, {"group_id": "billing", "topics": [FETCHED_OFFSETS]}, BOTH),
        (OFFSET_FETCH, 9, {"groups": [{"group_id": "billing", "topics": [FETCHED_OFFSETS]}]}, BOTH),
        (CONSUMER_GROUP_HEARTBEAT, 1, CONSUMER_HEART, BOTH),
        (FETCH, 12, {**FETCH_FIELDS, "topics": [{"topic": "orders", "partitions": [FETCHED]}]}, TOPIC),
        (FETCH, 13, {**FETCH_FIELDS, "topics": [{"topic_id": ORDERS_ID, "partitions": [FETCHED]}]}, TOPIC),
        (PRODUCE, 9, PRODUCED, TOPIC),
        (FIND_COORDINATOR, 4, {"key_type": 1, "coordinator_keys": ["transaction"]}, (set(), set())),
        *((FIND_COORDINATOR, version, FOUND, GROUP) for version in (1, 3, 4, 6)),
    ],
)
def test_groups_and_topics_are_found_wherever_a_request_names_them(
    api: Api, version: int, fields: dict[str, Any], named: tuple[set[str], set[str]]
) -> None:
    names = asked(api, version, fields).names()
    assert (names.groups, names.topics) == named


def test_a_rule_ends_with_its_last_request() -> None:
    rules = Rules()
    rule = AnswerError(error="NOT_COORDINATOR", times=2)
    rules.add(rule, 0)
    assert [rules.judge(heartbeat(), 0) for _ in range(3)] == [*[FaultEffect(0, rule)] * 2, None]
    assert not rules.active


def test_a_rule_ends_with_its_time() -> None:
    rules = Rules()
    rules.add(Delay(bounds_s=(1, 1), for_s=30), 5_000)
    (active,) = rules.in_force(6_000)
    assert active.left_ms(6_000) == 29_000
    assert rules.judge(heartbeat(), 34_999) is not None
    assert rules.judge(heartbeat(), 35_000) is None
    assert not rules.active


def test_delays_add_up_until_a_rule_ends_the_request() -> None:
    rules = Rules()
    drop = Drop(what=Dropped.ANSWER, client="app-1")
    for rule in (Delay(bounds_s=(1, 1)), drop, Delay(bounds_s=(5, 5))):
        rules.add(rule, 0)
    assert rules.judge(heartbeat(), 0) == FaultEffect(1000, drop)
    assert rules.judge(heartbeat("app-2"), 0) == FaultEffect(6000)


def test_a_seed_decides_which_requests_are_met_and_how_long_they_wait() -> None:
    def delays(seed: int) -> list[FaultEffect | None]:
        rules = Rules()
        rules.add(Delay(bounds_s=(1, 2), chance=0.5, seed=seed), 0)
        return [rules.judge(heartbeat(), 0) for _ in range(200)]

    assert delays(1) == delays(1) != delays(2)
    met = [delay.delay_ms for delay in delays(1) if delay is not None]
    assert 70 < len(met) < 130
    assert min(met) >= 1000
    assert max(met) <= 2000
    assert len(set(met)) > 50
