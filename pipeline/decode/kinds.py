"""What rows of the table of events are called, by the type of the record's key."""

from __future__ import annotations

from collections.abc import Mapping

OFFSET = "offset"
COMMIT = "commit"
ABORT = "abort"
CONTROL = "control"
"""A mark of the broker's that ends no transaction."""

KINDS: Mapping[int, str] = {
    0: OFFSET,
    1: OFFSET,
    2: "group",
    3: "group_epoch",
    4: "partition_metadata",
    5: "member",
    6: "target_epoch",
    7: "target",
    8: "current",
    10: "share_member",
    11: "share_group_epoch",
    12: "share_target_epoch",
    13: "share_target",
    14: "share_current",
    15: "share_state_partitions",
    16: "regex",
    17: "streams_group_epoch",
    19: "streams_member",
    20: "streams_target_epoch",
    21: "streams_target",
    22: "streams_current",
    23: "streams_topology",
}
OFFSET_VERSIONS = (0, 1)
"""Types of the keys of offsets."""
