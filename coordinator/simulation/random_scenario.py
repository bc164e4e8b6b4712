"""Small random scenarios of every kind, each drawn from its seed, as in KIP-848's test plan.
They are short, so that a million can be played, with timeouts as short as brokers allow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from coordinator.faults import ChangeTopic, CoordinatorFault, FailCoordinator
from coordinator.simulation import scenario as model

NAME = "random"
UNTIL_S = 30.0
_STARTED_S = 5.0  # When the initial members have started; the other events come afterwards
_LAST_EVENT_S = 26.0
_TOPICS = ("orders", "payments")
_COMMON = {"metadata.max.age.ms": "5000", "request.timeout.ms": "5000", "retry.backoff.ms": "500"}
"""A deleted topic is soon known; until then clients request it ten times a second."""
_TIMEOUTS = {"session.timeout.ms": "6000", "heartbeat.interval.ms": "2000"}
_SETTINGS = {
    "group.consumer.min.session.timeout.ms": "6000",
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.heartbeat.interval.ms": "2000",
    "group.consumer.heartbeat.interval.ms": "2000",
}
_LIBRARIES = ("java", "java", "java", "librdkafka")
_EAGER = ("range", "roundrobin", "sticky")
_COOPERATIVE = ("cooperative-sticky",)
_BETWEEN = (("cooperative-sticky", "range"), ("range", "cooperative-sticky"))
"""Assignor lists of the first bounce from range to cooperative-sticky; librdkafka refuses both."""
_REGEXES = ("^ord.*", "^.*", "^(orders|payments)")
_MISSING = "returns"  # A topic that is never created
_VERBS = (
    "restart", "restart", "restart", "close", "kill", "pause", "freeze", "enforce_rebalance", "subscribe", "commit",
)  # fmt: skip


def random_scenario(seed: int) -> model.Scenario:
    """The same scenario for the same seed. Reading its text returns the same scenario (`scenario_text`)."""
    scenario = _Draft(Random(f"{seed} scenario")).scenario()  # noqa: S311
    # Drawn separately: the rest of a seed's scenario is the same with and without these calls.
    random = Random(f"{seed} subscriptions")  # noqa: S311
    events = (changed for event in scenario.events for changed in _with_subscriptions(random, event))
    return replace(scenario, events=tuple(events))


def _with_subscriptions(random: Random, event: model.Event) -> Iterator[model.Event]:
    """The event; one of those that subscribe may be another call of the consumer, or several at the same time."""
    if not isinstance(event, model.Subscribe):
        yield event
        return
    at, name = event.at, event.member
    again: tuple[model.Event, ...] = (
        event,
        replace(event, topics=(), regex=random.choice(_REGEXES)),
        replace(event, topics=(*event.topics, _MISSING)),
        model.Assign(at=at, member=name, partitions={random.choice(event.topics): (0, 1)}),
    )
    if random.random() < 0.4:
        yield model.Unsubscribe(at=at, member=name)
        if random.random() < 0.3:
            return
    yield random.choice(again)


@dataclass(slots=True)
class _Draft:
    """The part of the scenario drawn so far: the running members and existing topics at the next event."""

    random: Random
    scripts: dict[str, model.MemberScript] = field(
        default_factory=dict
    )  # The members' current configurations
    running: list[str] = field(default_factory=list)
    topics: dict[str, int] = field(default_factory=dict)  # The existing topics, with their partition counts
    all_topics: tuple[str, ...] = ()
    eager: str = "range"  # The assignor of classic members that are not cooperative

    def scenario(self) -> model.Scenario:
        random = self.random
        self.all_topics = _TOPICS[: random.randint(1, 2)]
        self.topics = {topic: random.randint(1, 4) for topic in self.all_topics}
        topics = dict(self.topics)
        libraries = {name: random.choice(_LIBRARIES) for name in "abcd"[: random.randint(2, 4)]}
        self.eager = random.choice(_EAGER[:2] if "librdkafka" in libraries.values() else _EAGER)
        kind = random.choice(("eager", "cooperative", "between", "consumer", "consumer", "upgrade"))
        self.scripts = {name: self._member(name, library, kind) for name, library in libraries.items()}
        members = dict(self.scripts)
        starts, times = self._starts(), self._times(random.randint(2, 6), _STARTED_S, _LAST_EVENT_S)
        events = [*starts, *(self._event(at, kind) for at in times)]  # each is valid after the earlier ones
        delay = random.choice((0, 500, 3000))
        return model.Scenario(
            name=NAME,
            topics=topics,
            settings=_SETTINGS | {"group.initial.rebalance.delay.ms": str(delay)},
            members=members,
            events=tuple(events),
            faults=self._faults(),
            until_s=UNTIL_S,
        )

    def _member(self, name: str, library: str, kind: str) -> model.MemberScript:
        random = self.random
        script = model.MemberScript(
            library=library,
            topics=self._subscription(),
            instance=name if random.random() < 0.25 else None,
            listener=self._listener(),
            after_error=random.choice(("die", "restart")) if random.random() < 0.1 else None,
            config={**_COMMON, "max.poll.interval.ms": random.choice(("8000", "20000", "20000"))},
        )
        if kind == "consumer":
            return self._of_consumer_protocol(script)
        return self._of_classic_protocol(script, self._assignors(library, kind))

    def _assignors(self, library: str, kind: str) -> tuple[str, ...]:
        """The assignors of a classic member; all members of a group have one in common, as in a working group."""
        if kind == "between":
            return ("range",) if library == "librdkafka" else self.random.choice(_BETWEEN)
        return (self.eager,) if kind == "eager" else _COOPERATIVE

    def _subscription(self) -> tuple[str, ...]:
        present = tuple(topic for topic in _TOPICS if topic in self.topics)
        return present if self.random.random() < 0.75 or not present else (self.random.choice(present),)

    def _of_consumer_protocol(self, script: model.MemberScript) -> model.MemberScript:
        random = self.random
        if random.random() < 0.2:
            script = replace(script, topics=(), regex=random.choice(_REGEXES))
        config = {name: value for name, value in script.config.items() if name not in _TIMEOUTS}
        remote = random.choice((None, None, "uniform", "range"))
        return replace(script, protocol="consumer", assignors=(), remote_assignor=remote, config=config)

    def _of_classic_protocol(
        self, script: model.MemberScript, assignors: tuple[str, ...]
    ) -> model.MemberScript:
        config = {**script.config, **_TIMEOUTS}
        return replace(script, protocol="classic", assignors=assignors, remote_assignor=None, config=config)

    def _listener(self) -> dict[str, model.ListenerScript]:
        random = self.random
        return {
            method: model.ListenerScript(
                takes_s=None if random.random() < 0.03 else random.choice((0.0, 0.2, 3.0)),
                throws=random.random() < 0.07,
                commits=random.random() < 0.15,
            )
            for method in ("assigned", "revoked", "lost")
            if random.random() < 0.1
        }

    def _faults(self) -> model.NetworkFaults:
        random = self.random
        if random.random() < 0.4:
            return model.NetworkFaults()
        start_s = round(random.uniform(_STARTED_S, _LAST_EVENT_S), 3)
        lasts_s = random.choice((1, 4, 8))
        who = tuple(sorted(random.sample(list(self.scripts), random.choice((1, len(self.scripts))))))
        partition = model.NetworkPartition(
            members=who,
            start_s=start_s,
            end_s=start_s + lasts_s,
            direction=random.choice(list(model.Direction)),
        )
        return model.NetworkFaults(
            loss=random.choice((0.0, 0.01, 0.05)),
            duplicate=random.choice((0.0, 0.01, 0.05)),
            delay_ms=random.choice(((1, 5), (1, 80), (1, 1000))),
            reorder=random.random() < 0.3,
            partitions=(partition,) if random.random() < 0.3 else (),
        )

    def _starts(self) -> list[model.Event]:
        starts: list[model.Event] = []
        for at, name in zip(self._times(len(self.scripts), 0.0, _STARTED_S), self.scripts, strict=True):
            if not starts or self.random.random() < 0.8:
                starts.append(model.Start(at=at, member=name))
                self.running.append(name)
        return starts

    def _times(self, count: int, start_s: float, end_s: float) -> Sequence[float]:
        return sorted(round(self.random.uniform(start_s, end_s), 3) for _ in range(count))

    def _event(self, at: float, kind: str) -> model.Event:
        absent = [name for name in self.scripts if name not in self.running]
        if not self.running or (absent and self.random.random() < 0.25):
            name = self.random.choice(absent)
            self.running.append(name)
            return model.Start(at=at, member=name)
        return self._of_world(at) if self.random.random() < 0.3 else self._of_member(at, kind)

    def _of_world(self, at: float) -> model.Event:
        random = self.random
        if random.random() < 0.4:
            fault = random.choice(list(CoordinatorFault))
            return FailCoordinator(at=at, fault=fault, for_s=random.choice((0.1, 1.0, 4.0)))
        topic = random.choice(list(self.all_topics))
        present = self.topics.get(topic)
        if present is None:
            self.topics[topic] = count = random.randint(1, 4)
            return ChangeTopic(at=at, topic=topic, create=count)
        match random.choice(("grow", "grow", "delete", "recreate")):
            case "grow":
                self.topics[topic] = count = present + random.randint(1, 2)
                return ChangeTopic(at=at, topic=topic, partitions=count)
            case "delete":
                del self.topics[topic]
                return ChangeTopic(at=at, topic=topic, delete=True)
            case _:
                self.topics[topic] = count = random.randint(1, 4)
                return ChangeTopic(at=at, topic=topic, recreate=count)

    def _of_member(self, at: float, kind: str) -> model.Event:
        random, name = self.random, self.random.choice(self.running)
        match random.choice(_VERBS):
            case "restart":
                return self._restart(at, name, kind)
            case "close":
                self.running.remove(name)
                return model.Close(at=at, member=name)
            case "kill":
                self.running.remove(name)
                return model.Kill(at=at, member=name)
            case "pause":
                return model.Pause(at=at, member=name, for_s=random.choice((1.0, 4.0, 12.0)))
            case "freeze":
                return model.Freeze(at=at, member=name, for_s=random.choice((0.5, 3.0, 8.0)))
            case "enforce_rebalance":
                return model.EnforceRebalance(at=at, member=name)
            case "subscribe" if self.topics:
                return model.Subscribe(at=at, member=name, topics=self._subscription())
            case "subscribe":  # there is no topic
                # Not a separate verb: otherwise every seed would draw another scenario than before.
                return model.AskCommitted(at=at, member=name)
            case _:
                return model.Commit(at=at, member=name)

    def _restart(self, at: float, name: str, kind: str) -> model.Restart:
        """A restart with the same settings, or as another kind of member: the next bounce, an upgrade, a rollback."""
        script = self.scripts[name]
        match kind:
            case "between" if self.random.random() < 0.6:
                script = self._of_classic_protocol(script, _COOPERATIVE)
            case "upgrade" if script.protocol == "classic" and self.random.random() < 0.8:
                script = self._of_consumer_protocol(script)
            case "upgrade" if self.random.random() < 0.3:
                # Without a regex: the broker's differ from the client's in the classic protocol.
                if script.regex is not None:
                    script = replace(script, topics=self.all_topics, regex=None)
                script = self._of_classic_protocol(script, _COOPERATIVE)
        self.scripts[name] = script
        kill = self.random.random() < 0.3
        return model.Restart(at=at, member=name, script=script, kill=kill)
