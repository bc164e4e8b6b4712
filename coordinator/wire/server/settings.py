"""What the server is told at its start: the coordinator's settings and those of the one broker it plays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coordinator.broker.config import Config, InvalidSetting, parse_integer


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSettings:
    """The broker that clients believe to see; names are those of a broker's properties with `_` for `.`.

    `num_partitions` is what a topic gets whose creator does not say.
    """

    node_id: int = 1
    broker_rack: str | None = None
    num_partitions: int = 1


def parse_settings(settings: Mapping[str, str]) -> tuple[NodeSettings, Config]:
    """Settings by the names that a broker gives them. :raises InvalidSetting: with what is wrong"""
    own = {name: text for name, text in settings.items() if name in NODE_SETTINGS}
    rest = {name: text for name, text in settings.items() if name not in NODE_SETTINGS}
    node = NodeSettings(
        node_id=parse_integer("node.id", own.get("node.id", "1"), minimum=0),
        broker_rack=own.get("broker.rack") or None,
        num_partitions=parse_integer("num.partitions", own.get("num.partitions", "1"), minimum=1),
    )
    return node, Config.parse(rest)


def parse_topics(topics: Mapping[str, str]) -> dict[str, int]:
    """Numbers of partitions by topic, from their texts; `""` is one. :raises InvalidSetting:"""
    return {name: parse_integer(f"topic {name}", text or "1", minimum=1) for name, text in topics.items()}


NODE_SETTINGS = ("node.id", "broker.rack", "num.partitions")

__all__ = ["NODE_SETTINGS", "InvalidSetting", "NodeSettings", "parse_settings", "parse_topics"]
