"""The options of `kohort describe`."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from cli.options import SelectionOptions, option, with_value
from groups.listing import GroupState

STATE_TABLE = "(table)"  # the value of `--state` if it was given without one


def _are_states(text: str) -> bool:
    try:
        return all(map(GroupState.parse, text.split(",")))
    except ValueError:
        return False


with_table = partial(with_value, option="--state", default=STATE_TABLE, is_value=_are_states)
"""Allows `--state` without a value, even before a group, like kafka-consumer-groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeSelection(SelectionOptions):
    """The described groups; `--state` alone selects a table."""

    states: Annotated[
        list[str] | None,
        option(
            "--state",
            "Show state, coordinator and assignor. With states: only groups in these, in any table.",
            "[STATE,…]",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeOptions:
    members: Annotated[bool, option("--members", "Show members and their assignments.")] = False
    offsets: Annotated[bool, option("--offsets", "Show committed offsets and lag (the default).")] = False
    migration: Annotated[
        bool, option("--migration", "Show protocol, leader and successor, and what each member waits for.")
    ] = False
    lag_time: Annotated[bool, option("--lag-time", "Add the age of the oldest unread record.")] = False
    last_commit: Annotated[bool, option("--last-commit", "Add the time when each offset was committed.")] = (
        False
    )
    totals: Annotated[
        bool,
        option("--totals", "Show only lag by topic, by group and in total; with --offsets, partitions too."),
    ] = False
    authorized_operations: Annotated[
        bool,
        option("--authorized-operations", "Add the operations that this user may perform on each group."),
    ] = False
    only_with_lag: Annotated[bool, option("--only-with-lag", "Show only partitions and groups with lag.")] = (
        False
    )
    verbose: Annotated[
        bool, option("--verbose", "Add epochs, targets, subscriptions, log start offsets; show ids in full.")
    ] = False
