"""Plays the whole table to a server: many scripts at once, over a connection each and more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from tests.conformance.cluster import Cluster
from tests.conformance.peer import Peer
from tests.conformance.play import Play, Server, Transcript, topic_names
from tests.conformance.script import Script

AT_ONCE = 40


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
    places = asyncio.Semaphore(AT_ONCE)

    async def play(script: Script) -> Transcript:
        async with places:
            control = Cluster(await Peer.connect(server.host, server.port))
            try:
                return await Play(script, server, control).run()
            finally:
                await control.close()

    # The longest first: most of them wait for a session to end.
    wanted.sort(key=lambda script: -len(script.steps))
    transcripts = await asyncio.gather(*(play(script) for script in wanted))
    await cluster.close()
    return {script.name: transcript for script, transcript in zip(wanted, transcripts, strict=True)}
