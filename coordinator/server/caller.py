"""Who sends requests."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sent a request: the client id, "" for none, and the host as Kafka shows it (`/127.0.0.1`)."""

    client_id: str
    host: str
