"""Timed faults, injected while the server runs: from a faults file, or from a scenario."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from coordinator.server.cluster import Cluster
from coordinator.server.fault_actions import FaultRefused, carry_out
from coordinator.server.faults.events import FaultEvent
from coordinator.server.faults.reading import TimedEvent, tree_of


async def play(cluster: Cluster, events: Sequence[TimedEvent], report: Callable[[str], None]) -> None:
    """Inject faults, sorted by time, counting from now; `report` gets a line on each, injected or refused."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    for timed in events:
        await asyncio.sleep(began + timed.at_s - loop.time())
        try:
            done = await carry_out(cluster, timed.event)
        except FaultRefused as error:
            report(f"at {timed.at_s:g} s: {_text(timed.event)}: not done: {error}")
        else:
            report(f"at {timed.at_s:g} s: {_text(timed.event) if isinstance(done, int) else done}")


def _text(event: FaultEvent) -> str:
    return ", ".join(f"{key} {value}" for key, value in tree_of(event).items())
