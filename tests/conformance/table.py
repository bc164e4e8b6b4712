"""Plays the whole table to a server: many scripts at once, over a connection each and more. First the scripts that only
ask and answer, a few at a time, as they keep the machine busy; then all those that wait for something, side by side on
a machine that is then calm, as they look at the time."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from tests.conformance.cluster import Cluster
from tests.conformance.peer import Peer
from tests.conformance.play import Play, Server, Transcript, group_name, topic_names
from tests.conformance.script import Script

Place: TypeAlias = tuple[Script, Server]  # a script and its server

BUSY_AT_ONCE = 16
WAITING_AT_ONCE = 80
WAITING = frozenset({"within", "wait", "repeat", "until", "never"})


async def at_home(scripts: Iterable[Script], server: Server) -> list[Place]:
    """The server of each script in a cluster that contains `server`: the coordinator of its groups."""
    control = Cluster(await Peer.connect(server.host, server.port))
    try:
        return [(script, await _at_home(control, script, server)) for script in scripts]
    finally:
        await control.close()


async def play_each(plays: Sequence[Place]) -> dict[str, Transcript]:
    """As `play_all`, with a server, or a broker of the same cluster, per script."""
    _, server = plays[0]
    control = Cluster(await Peer.connect(server.host, server.port))
    topics = {
        topic_names(script, home.tag)[name]: count
        for script, home in plays
        for name, count in script.topics.items()
    }
    try:
        await control.create(topics)
        return await _play(plays)
    finally:
        await control.close()


async def _at_home(control: Cluster, script: Script, server: Server) -> Server:
    """The coordinator of the groups of a script, with a tag for their names with which they have the same one."""
    used = set(re.findall(r"\$(g[2-4]?)\b", str(script.steps))) | {"g"}
    for number in range(1000):
        tag = f"{server.tag}.{number}"
        group = group_name(script, tag)
        keys = [f"{group}-{name[1:]}" if name[1:] else group for name in sorted(used)]
        answer = await control.ask("FindCoordinator", 4, key_type=0, coordinator_keys=keys)
        ports = {one["port"] for one in answer["coordinators"]}
        if len(ports) == 1:
            return replace(server, port=ports.pop(), tag=tag)
    raise LookupError(f"{script.name}: its groups have different coordinators under all names")


def is_waiting(script: Script) -> bool:
    return any(WAITING & set(step) for step in script.steps)


async def play_all(scripts: Iterable[Script], server: Server) -> dict[str, Transcript]:
    """Play `scripts` to `server` and return what it did, by the name of the script."""
    every = list(scripts)
    cluster = Cluster(await Peer.connect(server.host, server.port))
    # Creates __consumer_offsets on a broker that has none; before that every group is somewhere else.
    while (await cluster.ask("FindCoordinator", 3, key="any"))["error_code"]:
        await asyncio.sleep(0.1)
    topics = {
        topic_names(script, server.tag)[name]: count
        for script in every
        for name, count in script.topics.items()
    }
    await cluster.create(topics)
    await cluster.wait_for_coordinator(topics)
    transcripts = await _play([(script, server) for script in every])
    await cluster.close()
    return transcripts


async def _play(plays: Sequence[Place]) -> dict[str, Transcript]:
    return {
        **await _side_by_side([play for play in plays if not is_waiting(play[0])], BUSY_AT_ONCE),
        **await _side_by_side([play for play in plays if is_waiting(play[0])], WAITING_AT_ONCE),
    }


async def _side_by_side(plays: Sequence[Place], at_once: int) -> dict[str, Transcript]:
    places = asyncio.Semaphore(at_once)

    async def play(script: Script, server: Server) -> Transcript:
        async with places:
            control = Cluster(await Peer.connect(server.host, server.port))
            try:
                return await Play(script, server, control).run()
            finally:
                await control.close()

    transcripts = await asyncio.gather(*(play(*pair) for pair in plays))
    return {script.name: transcript for (script, _), transcript in zip(plays, transcripts, strict=True)}
