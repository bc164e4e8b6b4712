"""A group of real consumers on the real broker: what a dry run says of a change, and what the change then does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, ParamSpec

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

from assignors.assignor import Leader, Side
from assignors.model import NO_GENERATION
from cli.sources.replayed import ReplayedSource
from groups.dry_run import DryRunRequest, dry_run
from groups.group_spec import ADDED, WhatIf, change_group, change_topics, wanted_topics
from groups.model import Group, GroupState, Member, Topic
from tests.cli.command import Kohort
from tests.cli.sources.live_source import live_source
from tests.kafka import member as rig
from tests.kafka.broker import Broker
from tests.kafka.groups import wait_group
from tests.kafka.members import Members, Setting, fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until

Assignment = dict[str, dict[str, tuple[int, ...]]]
"""Partition numbers by member id and topic; topics of which a member has nothing are left out."""

REFRESH_MS = 300  # how often a client looks for new partitions; the leader's look starts it
HEARTBEAT_MS = 100
ATTEMPTS = 3
JAVA = "org.apache.kafka.clients.consumer."
JAVA_CLASSES = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    library: Leader
    protocol: str
    assignor: str

    def __str__(self) -> str:
        return f"{self.library.value}-{self.protocol}-{self.assignor}"

    @property
    def settings(self) -> dict[str, Setting]:
        if self.protocol == "consumer":
            return {"group_protocol": "consumer", "group_remote_assignor": self.assignor}
        java = self.library is Leader.JAVA
        strategy = f"{JAVA}{JAVA_CLASSES[self.assignor]}" if java else self.assignor
        return {"heartbeat_interval_ms": HEARTBEAT_MS, "partition_assignment_strategy": strategy}

    @property
    def refresh(self) -> dict[str, Setting]:
        """What makes a consumer see new partitions soon. Not for groups whose leader may want fewer topics than others:
        Java's takes the answer to an older refresh (ConsumerNetworkClient.ensureFreshMetadata), assigns without the
        topics of others, and has the group rebalance again."""
        if self.protocol == "consumer":
            return {}
        java = self.library is Leader.JAVA
        return {"metadata_max_age_ms" if java else "topic_metadata_refresh_interval_ms": REFRESH_MS}


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A settled group, and all topics it is concerned with."""

    group: Group
    topics: Mapping[str, Topic]

    def dry_run(self, kind: Kind, *, side: Side | None = None, assignor: str | None = None) -> Assignment:
        request = DryRunRequest(leader=kind.library, side=side, assignor=assignor)
        return reported(dry_run(self.group, self.topics, request).rebalances[-1].assignment)

    def with_joiner(self, joiner: Member) -> State:
        """This state with a member appended, as `--add 1` does it, but under its real id."""
        changed = change_group(self.group, WhatIf(add=1))
        facts = ("id", "instance", "rack", "protocol", "subscription")
        known = {name: getattr(joiner, name) for name in facts}
        added = replace(changed.members[-1], generation=NO_GENERATION, **known)
        return replace(self, group=replace(changed, members=(*changed.members[:-1], added)))

    def changed(self, what_if: WhatIf) -> State:
        return State(group=change_group(self.group, what_if), topics=change_topics(self.topics, what_if))

    def renamed(self, old: str, new: str) -> State:
        """This state with a static member under another id, come last (TargetAssignmentBuilder.build)."""
        others = [member for member in self.group.members if member.id != old]
        (gone,) = [member for member in self.group.members if member.id == old]
        return replace(self, group=replace(self.group, members=(*others, replace(gone, id=new))))

    def member(self, name: str) -> Member:
        return next(member for member in self.group.members if member.client.id == name)


class MissedARebalanceError(Exception):
    """A member was too late for one of several rebalances in a row, or the group had one more than was asked for: a
    member whose SyncGroup comes late claims what it had before; a Java leader may assign before it knows all topics."""


P = ParamSpec("P")


def again_if_a_member_is_late(test: Callable[P, None]) -> Callable[P, None]:
    """Try a test with a new group when a member missed a rebalance: on a busy machine that happens."""

    @wraps(test)
    def tried(*args: P.args, **kwargs: P.kwargs) -> None:
        for _ in range(ATTEMPTS - 1):
            try:
                return test(*args, **kwargs)
            except MissedARebalanceError:
                continue
        return test(*args, **kwargs)

    return tried


class LiveGroup:
    """A group under test. Members go by the names that `join` returns."""

    def __init__(
        self, kohort: Kohort, broker: Broker, members: Members, kind: Kind, *, refreshing: bool = False
    ) -> None:
        self.kohort, self.broker, self.members, self.kind = kohort, broker, members, kind
        self.refreshing = refreshing
        self.id = fresh_name("group")
        self.consumers: dict[str, rig.Member] = {}
        self.rounds: dict[str, int] = {}
        self.foreseen = 0  # rebalances that the last dry run shows
        self.wants: dict[str, frozenset[str]] = {}
        self.counts: dict[str, int] = {}

    def create(self, *counts: int) -> list[str]:
        names = [fresh_name("topic") for _ in counts]
        made = dict(zip(names, counts, strict=True))
        create_topics(self.broker, made)
        self.counts |= made
        return names

    def grow(self, topic: str, count: int) -> None:
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap})
        for future in admin.create_partitions([NewPartitions(topic, count)]).values():
            future.result()
        self.counts[topic] = count

    def join(self, topics: Sequence[str], kind: Kind | None = None, **settings: Setting) -> str:
        kind = kind or self.kind
        name = fresh_name("member")
        asked: dict[str, Any] = {**kind.settings, **(kind.refresh if self.refreshing else {}), **settings}
        start = self.members.java if kind.library is Leader.JAVA else self.members.confluent
        self.consumers[name] = start(self.broker, self.id, topics, name, **asked)
        self.wants[name] = frozenset(topics)
        return name

    def leave(self, name: str) -> None:
        """Have a member close; a static one of the classic protocol stays in the group for its session."""
        del self.wants[name]
        self.consumers.pop(name).stop()

    def subscribe(self, name: str, topics: Sequence[str]) -> None:
        self.wants[name] = frozenset(topics)
        self.consumers[name].subscribe(topics)

    def dry_run(self, *options: str) -> dict[str, Any]:
        """What the command says of the settled group, with the leader's library given. Members that refresh their
        metadata may rebalance once more just then, and no assignor is in use: ask again."""
        leader = () if "--leader" in options else ("--leader", self.kind.library.value)
        asked = ["dry-run", self.id, "-b", self.broker.bootstrap, *leader, *options, "--output", "json"]

        def answered() -> dict[str, Any] | None:
            self.settled()
            self.rounds = self._rounds()
            document = self.kohort.quick(*asked).document
            messages = [error["message"] for error in document["errors"]]
            assert all("no assignor is in use" in message for message in messages), messages
            return None if messages else document

        (run,) = wait_until(answered, lambda: f"{self.id} is settled while it is read")["groups"]
        result: dict[str, Any] = run
        self.foreseen = len(result["rebalances"])
        return result

    def state(self) -> State:
        with live_source(self.broker) as source:
            (group,) = source.describe([self.id], offsets=False).items
            names = (wanted_topics([group], WhatIf()) or set()) | set(self.counts)
            topics = source.topics(names, end_offsets=False).items
        return State(group=group, topics={topic.name: topic for topic in topics})

    def generation(self) -> int:
        """The generation of the classic group, which only the broker's log tells."""
        (group,) = ReplayedSource.read([self.broker.data]).describe([self.id], offsets=False).items
        assert group.generation is not None
        return group.generation

    def settled(self) -> State:
        """The settled group: Stable, all who joined and no other, everything wanted assigned and held."""
        wait_group(self.broker, self.id, members=len(self.wants))

        def settled() -> State | None:
            state = self.state()
            return state if self._rests(state.group) else None

        return wait_until(settled, lambda: f"{self.id} rests with {self.wants}: {self.state()}", every_s=0.1)

    def outcome(self, state: State, expected: Assignment) -> Assignment:
        """What the members of the settled group were given; MissedARebalanceError where that explains a difference."""
        assignment = reported({member.id: member.owned or {} for member in state.group.members})
        if assignment != expected and self.kind.protocol == "classic":
            now = self._rounds()
            rounds = {name: now[name] - self.rounds[name] for name in now.keys() & self.rounds.keys()}
            most = max(rounds.values(), default=0)
            late = [name for name, count in rounds.items() if count < most]
            if late or most > self.foreseen:
                raise MissedARebalanceError(f"{late} of {self.id}, {self.foreseen} foreseen: {rounds}")
        return assignment

    def check_join(self, join: Callable[[], str]) -> None:
        """A member joins: its id is known only afterwards, and then what a dry run says is exact."""
        before, run = self.settled(), self.dry_run("--add", "1")
        name = join()
        state = self.settled()
        assert added_is_undetermined(run)
        expected = before.with_joiner(state.member(name)).dry_run(self.kind)
        actual = self.outcome(state, expected)
        assert actual == expected, (actual, expected, before)

    def check_leave(self, name: str) -> list[Any]:
        return self._check(lambda: self.leave(name), "--remove", name)

    def check_growth(self, topic: str, count: int) -> list[Any]:
        return self._check(lambda: self.grow(topic, count), "--topic-partitions", f"{topic}={count}")

    def check_subscribe(self, name: str, topics: Sequence[str]) -> list[Any]:
        return self._check(lambda: self.subscribe(name, topics), "--subscribe", f"{name}={','.join(topics)}")

    def _check(self, change: Callable[[], None], *options: str) -> list[Any]:
        before, run = self.settled(), self.dry_run(*options)
        change()
        expected = promised(run)
        actual = self.outcome(self.settled(), expected)
        assert actual == expected, (actual, expected, before)
        undetermined: list[Any] = run["undetermined"]
        return undetermined

    def _rounds(self) -> dict[str, int]:
        """Rebalances that each member completed: the listener is called in every one, if only with nothing."""
        return {
            name: sum(event.kind == "assigned" for event in consumer.events())
            for name, consumer in self.consumers.items()
        }

    def _rests(self, group: Group) -> bool:
        if group.state is not GroupState.STABLE:
            return False
        if sorted(member.client.id or "" for member in group.members) != sorted(self.wants):
            return False
        for member in group.members:
            name, subscribed = member.client.id or "", member.subscription
            if subscribed is None or set(subscribed.topics) != self.wants[name]:
                return False
            if reported({"": self.consumers[name].assignment()}) != reported({"": member.owned or {}}):
                return False
        owned = [(t, p) for m in group.members for t, numbers in (m.owned or {}).items() for p in numbers]
        expected = [(t, p) for t in frozenset().union(*self.wants.values()) for p in range(self.counts[t])]
        return sorted(owned) == sorted(expected)


def promised(run: Mapping[str, Any]) -> Assignment:
    return reported(run["rebalances"][-1]["assignment"])


def reported(assignment: Mapping[str, Mapping[str, Sequence[int]]]) -> Assignment:
    """An assignment from anywhere, in one form."""
    return {
        member: {topic: tuple(sorted(numbers)) for topic, numbers in sorted(topics.items()) if numbers}
        for member, topics in sorted(assignment.items())
    }


def added_is_undetermined(run: Mapping[str, Any]) -> bool:
    return any(item.get("member") == f"{ADDED}1" for item in run["undetermined"])
