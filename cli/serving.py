"""What `kohort serve` runs and where, from the words of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cli.errors import UsageError

if TYPE_CHECKING:
    from coordinator.wire.server.node import Node


def listen_address(text: str) -> tuple[str, int]:
    """Host and port to listen on. UsageError says what is wrong."""
    from coordinator.wire.errors import InvalidAddress
    from coordinator.wire.server.loopback import parse_listen

    try:
        return parse_listen(text)
    except InvalidAddress as error:
        raise UsageError(str(error)) from None


def prepare_node(config: Sequence[str], topics: Sequence[str]) -> Node:
    """A node with settings (`name=value`) and topics (`name` or `name:partitions`). UsageError says what is wrong."""
    from coordinator.wire.server.node import Node
    from coordinator.wire.server.settings import InvalidSetting, parse_settings, parse_topics
    from coordinator.wire.server.topics import TopicRefused

    try:
        node = Node(*parse_settings(_pairs(config)))
        for name, partitions in parse_topics(_parted(topics)).items():
            node.topics.create(name, partitions)
    except (InvalidSetting, TopicRefused) as error:
        raise UsageError(str(error)) from None
    return node


def _pairs(config: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for text in config:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise UsageError(f"{text!r} is no setting: write NAME=VALUE")
        pairs[name] = value
    return pairs


def _parted(topics: Sequence[str]) -> dict[str, str]:
    parted = {}
    for text in topics:
        name, _, partitions = text.partition(":")
        if name in parted:
            raise UsageError(f"topic {name} is given twice")
        parted[name] = partitions
    return parted
