"""Plays the whole table to a server: many scripts at once, over a connection each and more.

First the scripts that only ask and answer, a few at a time, as they keep the machine busy; then all those that wait
for something, side by side on a machine that is then calm, as they look at the time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from tests.conformance.cluster import Cluster
from tests.conformance.peer import Peer
from tests.conformance.play import Play, Server, Transcript, topic_names
from tests.conformance.script import Script

BUSY_AT_ONCE = 16
WAITING_AT_ONCE = 80
WAITING = frozenset({"within", "wait", "repeat", "until", "never"})


async def play_all(scripts: Iterable[Script], server: Server) -> dict[str, Transcript]:
    """Play `scripts` to `server` and return what it did, by the name of the script."""
    wanted = list(scripts)
    cluster = Cluster(await Peer.connect(server.host, server.port))
    # Creates __consumer_offsets on a broker that has none; before that every group is somewhere else.
    while (await cluster.ask("FindCoordinator", 3, key="any"))["error_code"]:
        await asyncio.sleep(0.1)
    topics = {
        topic_names(script, server.tag)[name]: count
        for script in wanted
        for name, count in script.topics.items()
    }
    await cluster.create(topics)
    await cluster.wait_for_coordinator(topics)
    waiting = [script for script in wanted if any(WAITING & set(step) for step in script.steps)]
    busy = [script for script in wanted if script not in waiting]
    transcripts = {
        **await _side_by_side(busy, server, BUSY_AT_ONCE),
        **await _side_by_side(waiting, server, WAITING_AT_ONCE),
    }
    await cluster.close()
    return transcripts


async def _side_by_side(scripts: list[Script], server: Server, at_once: int) -> dict[str, Transcript]:
    places = asyncio.Semaphore(at_once)

    async def play(script: Script) -> Transcript:
        async with places:
            control = Cluster(await Peer.connect(server.host, server.port))
            try:
                return await Play(script, server, control).run()
            finally:
                await control.close()

    transcripts = await asyncio.gather(*(play(script) for script in scripts))
    return {script.name: transcript for script, transcript in zip(scripts, transcripts, strict=True)}
