"""Faults on the broker of a test: the events of `kohort fault` (docs/faults.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self


class Fault:
    """An active fault, until it is cleared: at the latest at the end of its `with` block."""

    def __init__(self, faults: Faults, number: int) -> None:
        self._faults = faults
        self.id = number

    def clear(self) -> None:
        """Remove the fault."""
        self._faults.clear(self.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()


class Faults:
    """Injects faults. Times are in seconds.

    Conditions of `delay`, `error` and `drop`: `api` (one or several, by Kafka's names), `client`, `group` and `topic`
    (with * and ?), `member`, `times` (number of requests), `lasts` (seconds), `chance` and `seed`.
    """

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def delay(self, seconds: float, most: float | None = None, **conditions: Any) -> Fault:
        """Delay requests by `seconds`, or by a random time up to `most`."""
        return self._rule({"delay": seconds if most is None else [seconds, most]}, conditions)

    def error(self, code: str, **conditions: Any) -> Fault:
        """Answer requests with an error of Kafka, by name."""
        return self._rule({"error": code}, conditions)

    def drop(self, *, connection: bool = False, **conditions: Any) -> Fault:
        """Do not answer requests; or close their `connection`."""
        return self._rule({"drop": "connection" if connection else "answer"}, conditions)

    def expire(self, group: str, member: str) -> None:
        """Expire the session of a member: member id, instance id or client id."""
        self._do(expire=member, group=group)

    def fence(self, group: str, member: str) -> None:
        """Replace a static member with another process; a dynamic member is removed."""
        self._do(fence=member, group=group)

    def disconnect(self, client: str) -> None:
        """Close the connections of a client id."""
        self._do(disconnect=client)

    def move(self, group: str, *, to: int | None = None, loading: float = 0.0) -> None:
        """Move the coordinator of a group to the next broker, or to broker `to`; it loads for `loading` seconds."""
        target = {} if to is None else {"to": to}
        self._do(coordinator="move", group=group, **target, **{"for": loading})

    def crash(self, group: str, *, lasts: float = 0.0) -> None:
        """Stop the broker that coordinates a group; it restarts after `lasts` seconds."""
        self._do(coordinator="crash", group=group, **{"for": lasts})

    def create(self, topic: str, partitions: int = 1) -> None:
        """Create a topic."""
        self._do(topic=topic, create=partitions)

    def grow(self, topic: str, partitions: int) -> None:
        """Increase the number of partitions of a topic to `partitions`."""
        self._do(topic=topic, partitions=partitions)

    def recreate(self, topic: str, partitions: int) -> None:
        """Delete a topic and create it again, with another id."""
        self._do(topic=topic, recreate=partitions)

    def delete(self, topic: str) -> None:
        """Delete a topic."""
        self._do(topic=topic, delete=True)

    def clear(self, *ids: int) -> None:
        """Remove the active faults with these ids, or all."""
        self._ask("clear", ids=list(ids))

    def _rule(self, event: dict[str, Any], conditions: dict[str, Any]) -> Fault:
        lasts = conditions.pop("lasts", None)
        api = conditions.get("api")
        if isinstance(api, Sequence) and not isinstance(api, str):
            conditions["api"] = list(api)
        if lasts is not None:
            conditions["for"] = lasts
        return Fault(self, self._do(**event, **conditions))

    def _do(self, **event: Any) -> int:
        number: int = self._ask("fault", event=event)
        return number
