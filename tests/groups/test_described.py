"""What brokers answer, as groups."""

from __future__ import annotations

from typing import Any

import pytest

from groups.described import as_group
from groups.listing import GroupType
from wire.messages.schemas.streams_groups import STREAMS_GROUP_DESCRIBE


@pytest.mark.parametrize(("version", "shown"), [(0, None), (1, "sticky")])
def test_the_assignor_of_a_streams_group_is_known_since_4_4(version: int, shown: str | None) -> None:
    group: dict[str, Any] = {
        "error_code": 0,
        "error_message": None,
        "group_id": "app",
        "group_state": "Empty",
        "group_epoch": 3,
        "assignment_epoch": 3,
        "topology": None,
        "members": [],
        "authorized_operations": -(2**31),
        "topology_description": None,
        "topology_description_status": 0,
        "assignor_name": "sticky",
    }
    told = STREAMS_GROUP_DESCRIBE.encode_response(version, 7, {"throttle_time_ms": 0, "groups": [group]})
    (answer,) = STREAMS_GROUP_DESCRIBE.decode_response(version, told[4:]).groups
    assert as_group(GroupType.STREAMS, answer, None)[0].protocol == shown
