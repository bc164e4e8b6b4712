"""A broker of the cluster, as clients see it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Broker:
    """`host` and `port` are what clients are told to connect to; they are known once it listens."""

    node_id: int
    rack: str | None = None
    host: str = ""
    port: int = 0
