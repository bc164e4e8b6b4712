"""Where the logs of partitions begin and end, and where they were at a moment; each is asked for once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cli.dropin.reading import raise_failure
from groups.offsets.model import Place
from wire.client.calls.list_offsets import EARLIEST, LATEST
from wire.client.client import Client

WRAPPED = "java.util.concurrent.ExecutionException: "
"""How Java's words begin of what was asked of the cluster and came to nothing."""


@dataclass(slots=True)
class Logs:
    """The logs of one cluster."""

    client: Client
    timeout_ms: int
    _known: dict[tuple[int, Place], int] = field(default_factory=dict)

    def earliest(self, places: Iterable[Place]) -> dict[Place, int]:
        """The offset of the oldest record that is kept."""
        return self._offsets(places, EARLIEST)

    def ends(self, places: Iterable[Place]) -> dict[Place, int]:
        """The offset behind the last record."""
        return self._offsets(places, LATEST)

    def at(self, places: Iterable[Place], at_ms: int) -> dict[Place, int]:
        """The first offset at or after a moment, -1 where no record is so late."""
        return self._offsets(places, at_ms)

    def _offsets(self, places: Iterable[Place], timestamp: int) -> dict[Place, int]:
        """All of them, or ToolFailure."""
        places = list(places)
        new = [place for place in places if (timestamp, place) not in self._known]
        if new:
            answers = self.client.offsets_at(new, timestamp, timeout_ms=self.timeout_ms)
            raise_failure(answers.failed.values(), prefix=WRAPPED)
            self._known |= {(timestamp, place): told.offset for place, told in answers.found.items()}
        return {place: self._known[timestamp, place] for place in places}
