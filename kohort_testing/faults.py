"""What can go wrong on the broker of a test: the events of `kohort fault` (docs/faults.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self


class Fault:
    """A fault in force, until it is cleared: at the latest at the end of its `with` block."""

    def __init__(self, faults: Faults, number: int) -> None:
        self._faults = faults
        self.id = number

    def clear(self) -> None:
        """End it."""
        self._faults.clear(self.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()


class Faults:
    """Lets things go wrong. Times are in seconds.

    Conditions of `delay`, `error` and `drop`: `api` (one or several, by Kafka's names), `client`, `group` and `topic`
    (with * and ?), `member`, `times` (how many requests), `lasts` (how many seconds), `chance` and `seed`.
    """

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def delay(self, seconds: float, most: float | None = None, **conditions: Any) -> Fault:
        """Handle requests so much later, or so much up to `most`."""
        return self._rule({"delay": seconds if most is None else [seconds, most]}, conditions)

    def error(self, code: str, **conditions: Any) -> Fault:
        """Answer requests with an error of Kafka's, by name."""
        return self._rule({"error": code}, conditions)

    def drop(self, *, connection: bool = False, **conditions: Any) -> Fault:
        """Answer requests with nothing; or close their `connection`."""
        return self._rule({"drop": "connection" if connection else "answer"}, conditions)

    def expire(self, group: str, member: str) -> None:
        """End the session of a member: member id, instance id or client id."""
        self._do(expire=member, group=group)

    def fence(self, group: str, member: str) -> None:
        """Have another process take a static member's place; a dynamic member is removed."""
        self._do(fence=member, group=group)

    def disconnect(self, client: str) -> None:
        """Close the connections of a client id."""
        self._do(disconnect=client)

    def move(self, group: str, *, to: int | None = None, loading: float = 0.0) -> None:
        """Move the coordinator of a group to the next broker, or to another; it loads for so long."""
        target = {} if to is None else {"to": to}
        self._do(coordinator="move", group=group, **target, **{"for": loading})

    def crash(self, group: str, *, lasts: float = 0.0) -> None:
        """Lose the broker that coordinates a group; it is back after `lasts` seconds."""
        self._do(coordinator="crash", group=group, **{"for": lasts})

    def create(self, topic: str, partitions: int = 1) -> None:
        """Create a topic."""
        self._do(topic=topic, create=partitions)

    def grow(self, topic: str, partitions: int) -> None:
        """Give a topic more partitions: so many in all."""
        self._do(topic=topic, partitions=partitions)

    def recreate(self, topic: str, partitions: int) -> None:
        """Delete a topic and create it anew, with another id."""
        self._do(topic=topic, recreate=partitions)

    def delete(self, topic: str) -> None:
        """Delete a topic."""
        self._do(topic=topic, delete=True)

    def clear(self, *ids: int) -> None:
        """End faults that are in force: those of these ids, or all."""
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
