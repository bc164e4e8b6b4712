"""Plain fields become the bytes of an answer."""

from datetime import timedelta
from typing import Any

import pytest

from coordinator.server.compose import compose
from tests.conformance.messages import response_type
from wire.messages.decode import decode


def composed(api: str, version: int, **fields: Any) -> Any:
    """The answer as kio's class says it."""
    kind = response_type(api, version)
    content = compose(kind, fields)
    message, end = decode(kind, content)
    assert end == len(content)
    return message


def test_what_a_version_does_not_have_is_left_out() -> None:
    fields = {"group_id": "g", "protocol_type": "consumer", "group_state": "Stable", "group_type": "classic"}
    for version, kept in ((2, 2), (4, 3), (5, 4)):
        (group,) = composed("ListGroups", version, error_code=0, groups=[fields]).groups
        given = {name: getattr(group, name) for name in list(fields)[:kept]}
        assert given == dict(list(fields.items())[:kept])
        assert not set(list(fields)[kept:]) & set(group.__dataclass_fields__)


def test_nobody_is_throttled_and_times_are_in_ms() -> None:
    answer = composed(
        "ConsumerGroupHeartbeat",
        1,
        error_code=0,
        error_message=None,
        member_id="m",
        member_epoch=1,
        heartbeat_interval=1500,
        assignment=None,
    )
    assert (answer.throttle_time, answer.heartbeat_interval) == (timedelta(0), timedelta(milliseconds=1500))


def test_a_field_that_must_be_there_is_missed() -> None:
    with pytest.raises(KeyError, match="error_code"):
        compose(response_type("Heartbeat", 4), {})


@pytest.mark.parametrize("letter", ["x", "ü", "😀"])
def test_a_message_that_quotes_a_long_name_is_shortened(letter: str) -> None:
    quoted = "Group " + letter * (32_767 // len(letter.encode())) + " not found."
    group = {"error_code": 69, "error_message": quoted, "group_id": "g", "group_state": "Dead"}
    group |= {"protocol_type": "", "protocol_data": "", "members": ()}
    (shown,) = composed("DescribeGroups", 6, groups=[group]).groups
    assert quoted.startswith(shown.error_message)
    assert 8000 < len(shown.error_message.encode()) <= 32_767


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"member_id": "x" * 32_768}, "a string of 32768 bytes"),
        ({"generation_id": 2**31}, "JoinGroupResponse has a value out of range"),
    ],
)
def test_a_value_that_does_not_fit_is_not_written(fields: dict[str, Any], what: str) -> None:
    fits = {
        "error_code": 0,
        "generation_id": 1,
        "protocol_name": "range",
        "leader": "m",
        "member_id": "m",
        "members": (),
    }
    compose(response_type("JoinGroup", 3), fits)
    with pytest.raises(ValueError, match=what):
        compose(response_type("JoinGroup", 3), fits | fields)
