"""Everything that there is at a moment of a run, and what its events do to it.

All chance comes from two generators, which begin from the seed: one for what the network and the nodes do, one for
ids. Nothing here depends on the order of a set or on a hash, so the same scenario and seed give the same run anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any
from uuid import UUID

from coordinator.consumer.library import AfterError
from coordinator.consumer.outputs import Callback, CallbackKind, Committed, Partitions, Raised, TopicPartition
from coordinator.consumer.settings import MemberSettings
from coordinator.engine.calls import Request
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer
from coordinator.engine.config import Config
from coordinator.engine.engine import Engine
from coordinator.engine.records import (
    ConsumerMemberRecord,
    CurrentAssignmentRecord,
    OffsetRecord,
    Record,
    TargetMemberRecord,
)
from coordinator.engine.topics import TopicImage
from coordinator.simulation.beginning import Beginning, Client
from coordinator.simulation.compacted_log import Cleaning, without_old_offsets
from coordinator.simulation.consumers import Birth, MakeMember, after_error, make_member
from coordinator.simulation.earlier_brokers import LACKS
from coordinator.simulation.invariants import Invariants
from coordinator.simulation.known_flaws import CREATED_ANEW, LATE_JOIN
from coordinator.simulation.measures import Measures
from coordinator.simulation.network import Connection, Network
from coordinator.simulation.node import NO_ID, Node, NodeStatus
from coordinator.simulation.process import Process
from coordinator.simulation.scenario import (
    AskCommitted,
    ChangeTopic,
    Close,
    Commit,
    CoordinatorFault,
    EnforceRebalance,
    Event,
    FailCoordinator,
    Freeze,
    Kill,
    MemberScript,
    Pause,
    Restart,
    Scenario,
    Start,
    Subscribe,
)
from coordinator.simulation.schedule import Schedule
from coordinator.simulation.story import COORDINATOR, Story, words_for
from coordinator.simulation.topics import Topics
from coordinator.simulation.violations import Violations
from coordinator.simulation.zombies import Consumption
from wire.uuids import format_uuid, parse_uuid

AGAIN_MS = 1_000
"""When an application that has died is started again."""

CATCH_UP_MS = 10_000
"""The end of a leap, which is played: long enough for each member to be heard."""

TAKEOVER_MS = 100
"""How long the node that takes over from a zombie loads."""

_NOTHING_BEFORE = Beginning()

_OF_MEMBERS = (ConsumerMemberRecord, CurrentAssignmentRecord, TargetMemberRecord)


class World:
    """See the module. `member_ids`: the ids of the successive processes of members, as their coordinator would make
    them (classic: `client-uuid`) or they themselves (consumer protocol)."""

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        *,
        member_ids: Mapping[str, Sequence[str]] | None = None,
        make: MakeMember = make_member,
        tells: bool = True,
        beginning: Beginning = _NOTHING_BEFORE,
    ) -> None:
        self.scenario = scenario
        self.schedule = Schedule(beginning.at_ms)
        self.topics = Topics(
            self.schedule, scenario.topics, scenario.records_per_s, beginning.topic_ids, beginning.offsets
        )
        self.processes: dict[str, Process] = {}
        """The last process of each member; it may have ended."""
        self.log: list[Record] = list(beginning.log)
        self.ends = [len(self.log)]
        """Offsets of the log where a batch ends."""
        self.nodes: dict[int, Node] = {}
        self.answered = 0
        self.is_calm = False
        self._seed, self._rests = seed, 0
        self._kept = 0
        """Records of the log that the last `forget` has left."""
        self._random, self._ids = Random(f"{seed} network"), Random(f"{seed} ids")  # noqa: S311
        self._member_ids = {name: list(ids) for name, ids in (member_ids or {}).items()}
        self._clients, self._histories = beginning.clients, dict(beginning.histories)
        self._make = make
        self._scripts: dict[str, MemberScript] = dict(scenario.members)
        self._known: dict[str, str] = {}
        """Member names by id."""
        self._uuids: dict[str, UUID] = {}
        """Of a classic member's present process, where it is prescribed."""
        self._starting: dict[str, int] = {}
        """How many processes a member has had."""
        self._after: dict[Process, int] = {}
        """How long after its end a process is started anew, where it is to be."""
        self._config = Config.parse(scenario.settings)
        self.story = Story(self.schedule, self.name_of, self._topic_name, is_kept=tells)
        self.measures = Measures(self.schedule)
        self.violations = Violations(self.schedule, self.story)
        self.broken = self.violations.add
        self.invariants = Invariants(self)
        self.consumption = Consumption(self.schedule, lambda: self.engine, self.broken, self.known_flaw)
        self.network = Network(
            self.schedule, scenario.faults, self._random, self._receive, self._find_coordinator
        )
        self.coordinator = self._add_node()
        self._authority = self.coordinator
        """Whose engine says who is a member: the last one that loaded."""
        self._has_new_authority = False
        """Whether nobody has been judged by it yet."""
        self.coordinator.load(self.topics.image)
        if beginning.log:
            self.invariants.appended(beginning.log, None, is_late=False)
        for event in scenario.events:
            self.schedule.at(beginning.at_ms + int(event.at * 1000), self.play, event)

    # What happens, by the scenario.

    def play(self, event: Event) -> None:
        """Have something happen now, whenever its time is."""
        match event:
            case Start(member=name):
                self._start(name)
            case Restart(member=name, script=script, after_s=after_s, kill=kill):
                self._restart(name, script, int(after_s * 1000), kill=kill)
            case ChangeTopic():
                self._change_topic(event)
            case FailCoordinator():
                self._fail_coordinator(event)
            case _:
                process = self.processes.get(event.member)
                if process is not None and process.is_running:
                    self.story.tell(event.member, _words(event))
                    self._play_member(event, process)

    def _play_member(self, event: Event, process: Process) -> None:
        match event:
            case Close():
                process.close()
            case Kill():
                process.kill()
            case Pause(for_s=for_s):
                process.pause(int(for_s * 1000))
            case Freeze(for_s=for_s):
                process.freeze(int(for_s * 1000))
            case EnforceRebalance():
                process.enforce_rebalance()
            case Subscribe(topics=topics):
                process.subscribe(topics)
            case Commit():
                process.commit()
            case AskCommitted():
                process.committed()

    def prescribe(self, name: str, member_id: str) -> None:
        """The id that the next process of a member gets, as its coordinator would make it."""
        number, ids = self._starting.get(name, -1) + 1, self._member_ids.get(name, [])
        self._member_ids[name] = [*ids[:number], *[""] * (number - len(ids)), member_id]

    def _start(self, name: str) -> None:
        running = self.processes.get(name)
        if running is not None and running.is_running:
            return
        script = self._scripts[name]
        self.story.tell(name, "starts")
        number = self._starting[name] = self._starting.get(name, -1) + 1
        ids = self._member_ids.get(name, [])
        wanted = (ids[number] or None) if number < len(ids) else None
        client, member_uuid = self._clients.get(name, Client(id=name)), format_uuid(self._fresh())
        if wanted is not None and script.protocol == "consumer":
            member_uuid = wanted
        elif wanted is not None:
            # Of a classic member that joins a consumer group: the identifier alone, as Kafka writes one.
            self._uuids[name] = parse_uuid(wanted[-36:])
            if script.instance is None and len(wanted) > 36:
                client = replace(client, id=wanted[:-37])
        process = Process(
            name,
            client,
            script,
            after_error(script),
            self.schedule,
            self.network.send,
            self.topics.end,
            self,
        )
        process.number = number
        self.processes[name] = process
        birth = Birth(
            client_id=client.id,
            script=script,
            image=self.topics.image,
            position=process.position,
            member_uuid=member_uuid,
            history=self._histories.pop(name, frozenset()),
        )
        if script.protocol == "consumer":
            self._known[member_uuid] = name
        self.measures.started(process)
        process.start(self._make(birth))

    def _restart(self, name: str, script: MemberScript, after_ms: int, *, kill: bool) -> None:
        self._scripts[name] = script
        process = self.processes.get(name)
        if process is None or not process.is_running:
            self._start(name)
            return
        self._after[process] = after_ms
        self.story.tell(name, "is killed, to start again" if kill else "closes, to start again")
        if kill:
            process.kill()
        else:
            process.close()

    def _change_topic(self, event: ChangeTopic) -> None:
        there = self.topics.image.topics.get(event.topic)
        if there is not None and (event.partitions is None or event.anew):
            for process in self.processes.values():
                process.count_reading()
        gone = self.topics.change(event.topic, event.partitions, anew=event.anew)
        what = "is deleted" if event.partitions is None else f"has {event.partitions} partitions"
        self.story.tell("", f"topic {event.topic} {what}{', created anew' if event.anew else ''}")
        for partition in gone:
            for process in self.processes.values():
                process.reset(partition)
            self.measures.gone(partition)
            self.invariants.log.gone(partition)
        for node in self.nodes.values():
            node.update_topics(self.topics.image)
        seen_ms = self.schedule.now_ms + int(self.scenario.metadata_delay_s * 1000)
        is_gone = there is not None and (event.partitions is None or event.anew)
        for process in self.processes.values():
            if process.is_running:
                at_ms = seen_ms if is_gone else self._refresh_ms(process, seen_ms)
                self.schedule.at(at_ms, self._show_topics, process, self.topics.image)

    def _refresh_ms(self, process: Process, seen_ms: int) -> int:
        """When a client that fetches happily looks again: by its own clock. One of the consumer protocol asks for
        topics that it is assigned and does not know."""
        if process.script.protocol == "consumer":
            return seen_ms
        age_ms = MemberSettings.parse(process.script.config).metadata_max_age_ms
        return seen_ms + (process.started_ms - seen_ms) % age_ms

    def _show_topics(self, process: Process, image: TopicImage) -> None:
        if process.is_running:
            process.see_topics(image)

    # The coordinator.

    def _add_node(self) -> Node:
        number = len(self.nodes) + 1
        node = Node(
            number,
            self.schedule,
            self._config,
            self.log,
            self._random,
            self.network.answer,
            self._fresh_id,
            self,
            [LACKS[each] for each in self.scenario.without],
        )
        self.nodes[number] = node
        return node

    def _fail_coordinator(self, event: FailCoordinator) -> None:
        old, for_ms = self.coordinator, int(event.for_s * 1000)
        if old.status is not NodeStatus.COORDINATING or old.is_armed:
            return
        self.story.tell(COORDINATOR, f"{event.fault.value} of node {old.number}")
        if event.fault is CoordinatorFault.CRASH:
            old.arm(partial(self._crashed, old, event))
            return
        new = self.coordinator = self._add_node()
        new.status = NodeStatus.LOADING
        if event.fault is CoordinatorFault.MOVE:
            old.unload()
            self.schedule.at(self.schedule.now_ms + for_ms, self._take_over, new, old, event)
        else:
            old.linger()
            takes_over_ms = self.schedule.now_ms + min(TAKEOVER_MS, for_ms)
            self.schedule.at(takes_over_ms, self._take_over, new, old, event)
            self.schedule.at(self.schedule.now_ms + for_ms, old.unload)

    def _crashed(self, node: Node, event: FailCoordinator) -> None:
        self.story.tell(COORDINATOR, f"node {node.number} is down")
        self.network.end_node(node.number)
        self.schedule.at(self.schedule.now_ms + int(event.for_s * 1000), self._come_back, node, event)

    def _come_back(self, node: Node, event: FailCoordinator) -> None:
        self.network.begin_node(node.number)
        self._take_over(node, node, event)

    def _take_over(self, node: Node, predecessor: Node, event: FailCoordinator) -> None:
        cleaning = Cleaning.draw(self._random, self.ends) if event.compacted else None
        self.story.tell(COORDINATOR, f"node {node.number} loads the {'compacted ' * event.compacted}log")
        before, self._authority = self._authority, node
        self._has_new_authority = True
        node.load(self.topics.image, predecessor, cleaning)
        if node.status is NodeStatus.FAILED:
            self._authority = before

    def _find_coordinator(self) -> int | None:
        return None if self.coordinator.status is NodeStatus.DOWN else self.coordinator.number

    def _receive(self, connection: Connection, number: int, request: Request[Any], is_late: bool) -> None:
        self.nodes[connection.node].receive(connection, number, request, is_late)

    def _fresh_id(self, connection: Connection, request: Request[Any]) -> UUID:
        """The id that a call may need: only JoinGroup without one does."""
        if type(request) is not JoinGroup or request.member:
            return NO_ID
        name = connection.process.name
        fresh = self._uuids.pop(name, None) or self._fresh()
        for prefix in (connection.process.client_id, request.instance):
            self._known[f"{prefix}-{fresh}"] = name
        self._known[format_uuid(fresh)] = name
        return fresh

    def _fresh(self) -> UUID:
        return UUID(int=self._ids.getrandbits(128), version=4)

    @property
    def engine(self) -> Engine:
        """That of the node that coordinates, or did last: it says who is a member."""
        return self._authority.engine

    def is_zombie(self, process: Process) -> bool:
        return self.consumption.is_zombie(process)

    def known_flaw(self, process: Process, place: TopicPartition) -> str:
        """Which weakness of Kafka lets the process have what others may be given; empty where none does."""
        if place in process.outlived:
            return CREATED_ANEW
        if process.member.member_id in self.invariants.log.late_joins:
            return LATE_JOIN
        return self.invariants.log.released.get((process.member.member_id, place), "")

    def name_of(self, member: str) -> str:
        """The name of the member of that id; the id itself where it is of nobody."""
        return self._known.get(member, member)

    def _topic_name(self, topic: UUID) -> str:
        return self.topics.image.names.get(topic, str(topic))

    # What a node shows.

    def appended(self, records: Sequence[Record], request: Request[Any] | None, *, is_late: bool) -> None:
        self.ends.append(len(self.log))
        if type(records[0]) is not OffsetRecord:
            self.story.records(records)
            self.measures.appended(records)
            for process in self._concerned(records):
                if process.owned:
                    self._judge(process)
        self.invariants.appended(records, request, is_late=is_late)

    def answering(
        self, node: Node, request: Request[Any], answer: object, *, is_heard: bool, is_late: bool
    ) -> None:
        self.answered += 1
        if type(answer) is JoinGroupAnswer and not answer.error and node is self._authority:
            self.consumption.joined[answer.member] = answer.generation
        self.invariants.answering(node, request, answer, is_heard=is_heard, is_late=is_late)

    def replayed(self, node: Node, before: Engine | None) -> None:
        self.invariants.replayed(node, before)

    def failed_to_load(self, node: Node, error: Exception) -> None:
        self.story.tell(COORDINATOR, f"node {node.number} cannot load it: {error}")
        self.invariants.failed_to_load(node, error)

    def lost(self, node: Node, records: Sequence[Record]) -> None:
        self.story.tell(
            COORDINATOR, f"node {node.number} crashes before it has appended {len(records)} records"
        )

    def _concerned(self, records: Sequence[Record]) -> Iterable[Process]:
        """Who may have become a zombie by the records, or is none any more: all, unless they are about members of a
        consumer group alone."""
        members = [record.member for record in records if isinstance(record, _OF_MEMBERS)]
        if len(members) < len(records) or self._has_new_authority:
            self._has_new_authority = False
            return self.processes.values()
        names = dict.fromkeys(self._known.get(member, "") for member in members)
        return [self.processes[name] for name in names if name in self.processes]

    def _judge(self, process: Process) -> None:
        """Note since when a process is a zombie."""
        since = self.measures.zombies_since
        if not self.consumption.is_zombie(process):
            since.pop(process, None)
        elif process not in since:
            since[process] = self.schedule.now_ms

    # What a process shows.

    def owned_changed(self, process: Process, before: Partitions) -> None:
        self.measures.owned_changed(process, before)
        if process.owned:
            self._judge(process)
        else:
            self.measures.zombies_since.pop(process, None)

    def fetching_changed(self, process: Process, before: Partitions) -> None:
        self.consumption.fetching_changed(process, before)

    def epoch_changed(self, process: Process, before: int) -> None:
        self.measures.changed_ms = self.schedule.now_ms
        self.invariants.epoch_changed(process, before)

    def seeing_topics(self, process: Process, image: TopicImage) -> None:
        self.invariants.seeing_topics(process, image)

    def calling(self, process: Process, callback: Callback) -> None:
        self.story.callback(process.name, callback)
        self.measures.called(process, callback)
        if callback.kind is CallbackKind.ASSIGNED:
            process.outlived |= self.invariants.log.outlived(process.member.member_id, callback.partitions)
        self.invariants.calling(process, callback)

    def called_back(self, process: Process, callback: Callback, *, threw: bool) -> None:
        self.measures.changed_ms = self.schedule.now_ms
        if threw:
            self.story.tell(process.name, f"the listener throws in {callback.kind.value}")
        self.invariants.called_back(process, callback, threw=threw)

    def raised(self, process: Process, raised: Raised) -> None:
        self.story.tell(process.name, f"throws {raised.error} {raised.message}".rstrip())
        self.measures.raised(process, raised)
        self.invariants.raised(process, raised)

    def committed(self, process: Process, committed: Committed) -> None:
        if committed.error:
            self.measures.commits_refused += 1
            what = words_for(frozenset(committed.offsets))
            self.story.tell(process.name, f"commit of {what} fails: {committed.error}")

    def read(self, partition: TopicPartition, start: int, end: int) -> None:
        self.measures.read(partition, start, end)

    def received(self, process: Process, answer: object) -> None:
        self.story.answer(process.name, answer)
        self.invariants.received(process, answer)

    def failed(self, process: Process) -> None:
        self.story.tell(process.name, "a request fails: the connection is lost")

    def hung(self, process: Process) -> None:
        self.story.tell(process.name, "hangs: its threads wait for each other")

    def ended(self, process: Process) -> None:
        self.story.tell(process.name, "its process has ended")
        self.network.end_process(process)
        self.measures.ended(process)
        after_ms = self._after.pop(process, None)
        if after_ms is None and process.has_failed and process.after_error is AfterError.RESTART:
            after_ms = AGAIN_MS
        if after_ms is not None:
            self.schedule.at(self.schedule.now_ms + after_ms, self._start, process.name)

    def leap(self, to_ms: int, limit: int) -> bool:
        """Let time pass while all is at rest, without the heartbeats of that time but for the last ones.

        :param limit: see `Schedule.play`, as for what is returned
        """
        by_ms = to_ms - CATCH_UP_MS - self.schedule.now_ms
        if by_ms > 0:
            self.schedule.leap(by_ms)
            self.coordinator.leap(by_ms, to_ms)
        return self.schedule.play(to_ms, limit)

    def begin_anew(self) -> None:
        """At rest, with no request under way, and nothing planned of what recurs: plan that, by the members' order.

        Chance is drawn anew: what follows does not depend on how often it was asked before.
        """
        self._rests += 1
        self._random.seed(f"{self._seed} network, after rest {self._rests}")
        self.network.plan_anew()
        for process in self.processes.values():
            process.plan_anew()
        for node in self.nodes.values():
            node.plan_anew()
        self.invariants.rest.unrest()  # it counts since when each member is settled

    def forget(self) -> None:
        """Let go of what only matters to a reader of the whole run: who had what when, and offsets in the log that were
        committed again since."""
        self.measures.forget()
        if len(self.log) > 2 * self._kept:
            self.log[:], self.ends = without_old_offsets(self.log, self.ends)
            self._kept = len(self.log)

    def calm_down(self) -> None:
        """No faults from now on."""
        self.is_calm = True
        self.network.calm()


def _words(
    event: Close | Kill | Pause | Freeze | EnforceRebalance | Subscribe | Commit | AskCommitted,
) -> str:
    match event:
        case Close():
            return "closes"
        case Kill():
            return "is killed"
        case Pause(for_s=for_s):
            return f"does not poll for {for_s:g} s"
        case Freeze(for_s=for_s):
            return f"stands still for {for_s:g} s"
        case EnforceRebalance():
            return "calls enforceRebalance"
        case Subscribe(topics=topics):
            return f"subscribes to {' '.join(topics)}"
        case Commit():
            return "calls commitSync"
        case AskCommitted():
            return "calls committed"
