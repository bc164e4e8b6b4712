"""One group on two servers, request by request: Kohort must answer, and wait, as the real broker does. A request may
wait on both for others to come; it is then looked at again after every request that follows."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from coordinator.engine.context import Group
from tests.conformance.cluster import Cluster
from tests.conformance.peer import Closed, Peer
from tests.conformance.play import CLOSED, Play, Sent, Server, difference, group_name, topic_names
from tests.conformance.script import Script
from tests.conformance.walks.following import Following
from wire.uuids import parse_uuid

AT_ONCE_S = 0.03  # a request that is not answered by then is parked
ANSWER_S = 10.0
SHOWN_S = 2.0  # a broker describes a group as it was when its last record was replicated: it may lag behind
UUID_LENGTH = 36
REMEMBERED = 25


class Differs(AssertionError):
    """The servers behave differently; the message shows the last requests and each behavior."""


@dataclass(slots=True, kw_only=True)
class Waiting:
    """A request sent to both."""

    step: str
    connection: str
    theirs: Sent
    ours: Sent


class Pair:
    """See the module. `names` are the values of `$` names in requests."""

    def __init__(self, script: Script, plays: Sequence[Play], clusters: Sequence[Cluster], kohort: Following):
        """Of each the real broker's first; `kohort` is the other one."""
        self.group_id = group_name(script, "")
        self.steps: list[str] = []
        self._theirs, self._ours = plays
        self._clusters = clusters
        self._engine = kohort.engine
        self._waiting: list[Waiting] = []
        self._number = 0

    @classmethod
    async def open(cls, name: str, topics: Mapping[str, int], kafka: Server, kohort: Following) -> Self:
        script = Script(name=name, says="", profile="", topics=topics, steps=())
        servers = kafka, kohort.coordinator(group_name(script, ""))
        clusters = [Cluster(await Peer.connect(one.host, one.port)) for one in servers]
        full = topic_names(script, "")
        counts = {full[short]: count for short, count in topics.items()}
        await clusters[0].create(counts)
        await clusters[0].wait_for_coordinator(counts)
        ids = await clusters[0].ids(counts)
        kohort.create({topic: (ids[topic], count) for topic, count in counts.items()})
        both = zip(servers, clusters, strict=True)
        plays = [Play(script, server, cluster, exact=True) for server, cluster in both]
        for play in plays:
            await play.begin()
        return cls(script, plays, clusters, kohort)

    async def close(self) -> None:
        for play in (self._theirs, self._ours):
            await play.close()
        for cluster in self._clusters:
            await cluster.close()

    @property
    def group(self) -> Group | None:
        """Kohort's state of the group, from which the next request is chosen."""
        return self._engine.state.groups.get(self.group_id)

    async def send(self, words: str, **fields: Any) -> Any:
        """Send `API VERSION` to both; the answer, or None where both wait. :raises Differs:"""
        self._number += 1
        connection = f"c{self._number}"
        step = f"{words} {fields}"
        full = f"{connection} {words} id {self.group_id}"
        theirs = await self._theirs.start(full, fields)
        if words.startswith("JoinGroup") and not fields.get("member_id"):
            await self._follow(theirs)
        heard = self._engine.heard[self.group_id]
        ours = await self._ours.start(full, fields)
        await self._taken(ours, heard)
        waiting = Waiting(step=step, connection=connection, theirs=theirs, ours=ours)
        self._waiting.append(waiting)
        await _done(ours, AT_ONCE_S)
        outcome = None
        for request in list(self._waiting):
            answer = await self._settle(request)
            outcome = answer if request is waiting else outcome
        self.steps.append(f"{step} -> {'waits' if outcome is None else outcome}")
        return outcome

    async def look(self, words: str, **fields: Any) -> Any:
        """Send a read-only request until both answer the same; returns the answer. :raises Differs:"""
        until = asyncio.get_running_loop().time() + SHOWN_S
        while True:
            self._number += 1
            full = f"c{self._number} {words} id {self.group_id}"
            sent = [await play.start(full, fields) for play in (self._theirs, self._ours)]
            theirs, ours = [
                await self._answer(*pair) for pair in zip((self._theirs, self._ours), sent, strict=True)
            ]
            for play in (self._theirs, self._ours):
                await play.hang_up(f"c{self._number}")
            if theirs == ours:
                return ours
            if asyncio.get_running_loop().time() > until:
                raise self._differs(f"{words} {fields}", theirs, ours)
            await asyncio.sleep(0.05)

    async def _taken(self, ours: Sent, heard: int) -> None:
        """Wait until Kohort has handled the request, however busy the machine is."""
        until = asyncio.get_running_loop().time() + SHOWN_S
        while not await _done(ours, AT_ONCE_S / 10) and self._engine.heard[self.group_id] == heard:
            if asyncio.get_running_loop().time() > until:
                break

    async def _settle(self, waiting: Waiting) -> Any:
        """The answer, when both have sent it; None while both wait. :raises Differs:"""
        if not waiting.ours.future.done():
            if not waiting.theirs.future.done():
                return None
            await _done(waiting.ours, SHOWN_S)
        if not await _done(waiting.theirs, ANSWER_S):
            raise self._differs(waiting.step, "waits", await self._answer(self._ours, waiting.ours))
        theirs = await self._answer(self._theirs, waiting.theirs)
        ours = await self._answer(self._ours, waiting.ours) if waiting.ours.future.done() else "waits"
        if theirs != ours:
            raise self._differs(waiting.step, theirs, ours)
        self._waiting.remove(waiting)
        for play in (self._theirs, self._ours):
            await play.hang_up(waiting.connection)
        return ours

    @staticmethod
    async def _answer(play: Play, sent: Sent) -> Any:
        try:
            await asyncio.wait_for(asyncio.shield(sent.future), ANSWER_S)
        except Closed:
            return CLOSED
        return play.shown(sent)

    async def _follow(self, joining: Sent) -> None:
        """Have Kohort give the joining member the id that the broker gave it."""
        until, member_id = asyncio.get_running_loop().time() + SHOWN_S, ""
        while not member_id and asyncio.get_running_loop().time() < until:
            if await _done(joining, AT_ONCE_S):
                member_id = "" if joining.future.exception() else joining.future.result().member_id
                break
            member_id = await self._newcomer()
        fresh = _fresh_id(member_id)
        if fresh is not None:
            self._engine.follow(self.group_id, fresh)

    async def _newcomer(self) -> str:
        described = await self._clusters[0].ask("DescribeGroups", 5, groups=[self.group_id])
        known = getattr(self.group, "members", {})
        new = [one["member_id"] for one in described["groups"][0]["members"] if one["member_id"] not in known]
        return new[0] if len(new) == 1 else ""

    def _differs(self, step: str, theirs: Any, ours: Any) -> Differs:
        where = difference(theirs, ours) or "there is more"
        last = "\n".join(self.steps[-REMEMBERED:])
        return Differs(f"{last}\n{step}\n{where}\nKafka:  {theirs}\nKohort: {ours}")


async def _done(sent: Sent, limit_s: float) -> bool:
    await asyncio.wait([sent.future], timeout=limit_s)
    return sent.future.done()


def _fresh_id(member: str) -> UUID | None:
    """The random part of a member id: a UUID after a prefix, or one in 22 characters of base64."""
    try:
        return UUID(member[-UUID_LENGTH:]) if len(member) >= UUID_LENGTH else parse_uuid(member)
    except ValueError:
        return None
