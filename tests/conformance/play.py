"""Plays one script to one server and records the answers."""

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.conformance.cluster import Cluster
from tests.conformance.messages import CLIENT_ID, build, known_fields, plain, request_type, response_type
from tests.conformance.normalize import Normalizer
from tests.conformance.peer import Closed, Peer
from tests.conformance.script import Script, load
from tests.conformance.values import resolve

ANSWER_S = 20.0
PARKED_S = 0.12
POLL_S = 0.1
CLOSED = "the connection is closed"
PARKED = "no answer yet"
NEVER = "no answer at all"
CLIENTS: Mapping[str, str | None] = {"null": None, "empty": ""}
# How much later than the script says an answer may come on a busy machine.
LATE_MS = 1500


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server's address. `tag` is appended to every name, if the table is played to it more than once."""

    name: str
    host: str
    port: int
    tag: str = ""


@dataclass(slots=True, kw_only=True)
class Transcript:
    """A server's behavior: per step, the step and the normal form of its outcome. `surprises` are outcomes that the
    script does not expect, `fault` is what prevented the script from continuing."""

    outcomes: list[tuple[str, Any]] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)
    fault: str = ""


@dataclass(slots=True, kw_only=True)
class Sent:
    """A request and its future answer; `at` is when it was sent, by the loop's clock."""

    api: str
    future: asyncio.Future[Any]
    at: float


class Play:
    """One script on one server; `exact`: ids and orders are the server's own."""

    def __init__(self, script: Script, server: Server, cluster: Cluster, *, exact: bool = False) -> None:
        self._script = script
        self._server = server
        self._cluster = cluster
        self._defaults: Mapping[str, Any] = load("defaults.yaml")
        self._normalizer = Normalizer(server.port, group_name(script, server.tag), exact=exact)
        self._peers: dict[str, Peer] = {}
        self._parked: dict[str, Sent] = {}
        self._topics = topic_names(script, server.tag)
        group = group_name(script, server.tag)
        groups = {f"g{number}": f"{group}-{number}" for number in range(2, 5)}
        self._names: dict[str, Any] = {"g": group, **groups, **self._topics}
        self._sent = time.monotonic()
        self.transcript = Transcript()

    async def run(self) -> Transcript:
        """Play every step; stops at a missing answer."""
        try:
            await self.begin()
            for number, step in enumerate(self._script.steps, 1):
                await self._step(number, step)
        except Exception as error:
            self.transcript.fault = f"{type(error).__name__}: {error}"
        finally:
            await self.close()
        return self.transcript

    async def begin(self) -> None:
        await self._learn_topics(self._script.topics)

    async def close(self) -> None:
        for name in list(self._peers):
            await self.hang_up(name)

    async def hang_up(self, connection: str) -> None:
        await self._peers.pop(connection).close()

    def shown(self, sent: Sent) -> Any:
        return self._normalizer.answer(sent.api, plain(sent.future.result()))

    async def _step(self, number: int, step: Mapping[str, Any]) -> None:
        label = f"{number} {next(iter(step))} {next(iter(step.values()))}"
        try:
            async with asyncio.timeout(90):
                outcome = await self._do(step)
        except (KeyError, ValueError, TypeError, IndexError) as error:
            raise RuntimeError(f"step {label}: {type(error).__name__}: {error}") from error
        if outcome is None:
            return
        self.transcript.outcomes.append((label, outcome))
        if "expect" in step:
            expected = self._normalizer.expected(resolve(step["expect"], self._names))
            surprise = difference(expected, outcome)
            if surprise:
                self.transcript.surprises.append(f"step {label}: {surprise}")

    async def _do(self, step: Mapping[str, Any]) -> Any:
        if "send" in step:
            return await self._send(step)
        if "until" in step:
            return await self._until(step)
        if "answer" in step:
            parked = self._parked.pop(step["answer"])
            return await self._outcome(parked, step)
        if "still" in step:
            await self._let_pass()
            return _said(self._parked[step["still"]])
        if "bytes" in step:
            peer = await self._peer(step["bytes"])
            peer.send_bytes(resolve(step["content"], self._names))
            return await self._is_closed(peer)
        await self._prepare(step)
        return None

    async def _prepare(self, step: Mapping[str, Any]) -> None:
        if "wait" in step:
            await asyncio.sleep(step["wait"] / 1000)
        elif "repeat" in step:
            await self._repeat(step)
        elif "close" in step:
            await self.hang_up(step["close"])
        elif "topics" in step:
            await self._cluster.create({self._topics[name]: count for name, count in step["topics"].items()})
            await self._learn_topics(step["topics"])
        elif "grow" in step:
            await self._cluster.grow({self._topics[name]: count for name, count in step["grow"].items()})
        elif "drop" in step:
            await self._cluster.drop([self._topics[name] for name in step["drop"]])

    async def _send(self, step: Mapping[str, Any]) -> Any:
        parked = await self.start(step["send"], step.get("with", {}))
        if "parks" not in step:
            return await self._outcome(parked, step)
        self._parked[step["parks"]] = parked
        await self._let_pass()
        return _said(parked)

    async def _until(self, step: Mapping[str, Any]) -> Any:
        """Send the request repeatedly until the answer matches; the last answer is recorded."""
        # What is waited for may have begun as early as the request before was sent.
        begun, started = self._sent, time.monotonic()
        limit = started + step.get("limit", 20_000) / 1000
        while True:
            outcome = await self._outcome(await self.start(step["until"], step.get("with", {})), {})
            expected = self._normalizer.expected(resolve(step["matches"], self._names))
            if not difference(expected, outcome) or time.monotonic() > limit:
                break
            await asyncio.sleep(POLL_S)
        return self._timed(outcome, started, step, earliest=begun)

    async def _repeat(self, step: Mapping[str, Any]) -> None:
        """Send a request every 0.5 s for a time; the answers are ignored."""
        limit = time.monotonic() + step["for"] / 1000
        while time.monotonic() < limit:
            await self._outcome(await self.start(step["repeat"], step.get("with", {})), {})
            await asyncio.sleep(0.5)

    async def start(self, words: str, values: Mapping[str, Any]) -> Sent:
        """Send the request that `words` name: `CONNECTION API VERSION [as V] [reads V] [id CLIENT]`."""
        connection, api, number, *more = words.split()
        options = dict(zip(more[::2], more[1::2], strict=True))
        entity = request_type(api, int(number))
        fields = {**known_fields(entity, self._defaults.get(api, {})), **values}
        message = build(entity, resolve(fields, self._names))
        peer = await self._peer(connection)
        named = options.get("id", CLIENT_ID)
        future = peer.send(
            message,
            response_type(api, int(options.get("reads", number))),
            version=int(options["as"]) if "as" in options else None,
            client_id=CLIENTS.get(named, named),
        )
        self._sent = time.monotonic()
        return Sent(api=api, future=future, at=self._sent)

    async def _outcome(self, parked: Sent, step: Mapping[str, Any]) -> Any:
        limit_s = max(ANSWER_S, (step.get("within", (0, 0))[1] + LATE_MS) / 1000)
        if "never" in step:
            limit_s = step["never"] / 1000
        try:
            answer = await asyncio.wait_for(asyncio.shield(parked.future), limit_s)
        except Closed:
            return CLOSED
        except TimeoutError:
            if "never" in step:
                return NEVER
            raise TimeoutError(f"no answer to {parked.api} within {limit_s:g} s") from None
        fields = plain(answer)
        for name, path in step.get("save", {}).items():
            self._save(name, _at(fields, path))
        shown = self._normalizer.answer(parked.api, fields)
        if "look_at" in step:
            shown = {name: _part(shown, name.split(".")) for name in step["look_at"]}
        return self._timed(shown, parked.at, step)

    def _timed(
        self, outcome: Any, started: float, step: Mapping[str, Any], *, earliest: float | None = None
    ) -> Any:
        """The outcome, and whether it arrived within the time of the script."""
        if "within" not in step:
            return outcome
        low, high = step["within"]
        now = time.monotonic()
        came = "in time"
        if (now - (started if earliest is None else earliest)) * 1000 < low:
            came = "too early"
        elif (now - started) * 1000 > high + LATE_MS:
            came = "too late"
        if came != "in time":
            took = f"{(now - started) * 1000:.0f} ms"
            self.transcript.surprises.append(f"{came}: {took}, {low} to {high} are expected")
        return {**outcome, "came": came}

    async def _let_pass(self) -> None:
        """Give a request time to park: a later request is answered after it was handled."""
        await asyncio.sleep(PARKED_S)
        await self._cluster.ask("DescribeGroups", 5, groups=[self._names["g"]])
        await asyncio.sleep(PARKED_S / 4)

    async def _is_closed(self, peer: Peer) -> str:
        try:
            await asyncio.wait_for(peer.ended(), 5.0)
        except TimeoutError:
            return "the connection stays open"
        return CLOSED

    async def _peer(self, name: str) -> Peer:
        if name not in self._peers:
            self._peers[name] = await Peer.connect(self._server.host, self._server.port)
        return self._peers[name]

    async def _learn_topics(self, names: Mapping[str, int]) -> None:
        ids = await self._cluster.ids(self._topics[name] for name in names)
        for name in names:
            if self._topics[name] in ids:
                self._save(f"{name}.id", ids[self._topics[name]])

    def _save(self, name: str, value: Any) -> None:
        self._names[name] = value
        self._normalizer.learn(value, name)


def group_name(script: Script, tag: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "-", script.name.replace("/", "..")) + tag


def topic_names(script: Script, tag: str) -> dict[str, str]:
    """Full names of the topics of a script, by their short ones."""
    short = set(script.topics)
    for step in script.steps:
        short |= set(step.get("topics", ()))
    return {name: f"{group_name(script, tag)}.{name}" for name in short}


def _said(parked: Sent) -> str:
    if not parked.future.done():
        return PARKED
    return CLOSED if isinstance(parked.future.exception(), Closed) else "it is answered"


def _at(fields: Any, path: str) -> Any:
    for part in path.split("."):
        fields = fields[int(part)] if isinstance(fields, list) else fields[part]
    return fields


def difference(expected: Any, actual: Any, path: str = "") -> str:
    """The differences of `actual` from `expected`, which need not name every field; empty: none."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        for key, one in expected.items():
            if key not in actual:
                return f"{path}.{key} is not there"
            deeper = difference(one, actual[key], f"{path}.{key}")
            if deeper:
                return deeper
        return ""
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        both = enumerate(zip(expected, actual, strict=True))
        inner = [difference(one, other, f"{path}.{index}") for index, (one, other) in both]
        return next(filter(None, inner), "")
    return "" if expected == actual else f"{path or 'it'} is {actual!r}, expected {expected!r}"


def _part(answer: Any, path: Sequence[str]) -> Any:
    """A field of an answer; for a list, the field of each element."""
    if isinstance(answer, list):
        return [_part(element, path) for element in answer]
    return _part(answer[path[0]], path[1:]) if path else answer
