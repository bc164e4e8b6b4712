"""The world: the state of a run at a moment, and the effect of events on it. All randomness comes from two generators
(for the network and the nodes, and for ids), and nothing depends on the order of a set or on a hash: a scenario and a
seed give the same run on any machine."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from types import MappingProxyType
from uuid import UUID

from assignors.assignor import Leader
from coordinator.configs.settings import Config
from coordinator.consumer.consumer_member import RETRY_BACKOFF_MAX_MS
from coordinator.consumer.leader import places
from coordinator.consumer.library import AfterError, MemberSettings
from coordinator.consumer.outputs import TopicPartition
from coordinator.engine.calls import AnyRequest
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.engine import Engine
from coordinator.engine.records import Record
from coordinator.faults import ChangeTopic, CoordinatorFault, FailCoordinator
from coordinator.simulation import scenario as model
from coordinator.simulation.client_rules import ClientRules
from coordinator.simulation.compacted_log import LACKS, CleanerPositions, without_old_offsets
from coordinator.simulation.consumers import (
    MakeMember,
    NewMember,
    after_error,
    make_member,
    shares_partitions,
    subscription_to,
)
from coordinator.simulation.invariants import Violations
from coordinator.simulation.known_flaws import LATE_JOIN, TOPIC_RECREATED
from coordinator.simulation.log_rules import LogRules
from coordinator.simulation.measures import Measures
from coordinator.simulation.network import Network, SimulatedConnection
from coordinator.simulation.node import NO_ID, Answering, CoordinatorNode, LogAppend, NodeStatus
from coordinator.simulation.process import Process
from coordinator.simulation.schedule import Schedule
from coordinator.simulation.settling_rules import SettlingRules
from coordinator.simulation.story import COORDINATOR, RunStory, partition_text
from coordinator.simulation.streams import StreamsApplication
from coordinator.simulation.topics import InitialState, SimulatedClient, SimulatedTopics
from coordinator.simulation.watcher import Watcher, Watchers
from coordinator.simulation.zombies import Consumption
from groups.times import seconds_text
from wire.uuids import format_uuid, parse_uuid

AGAIN_MS = 1_000  # The time after which an application that has died is restarted
CATCH_UP_MS = 10_000  # The end of skipped time that is played: long enough for a heartbeat of each member
TAKEOVER_MS = 100  # How long a node that takes over from a zombie loads
_EMPTY = InitialState()


class World(Watcher):
    """See the module. `member_ids`: the ids that members' successive processes would get or generate."""

    def __init__(
        self,
        scenario: model.Scenario,
        seed: int,
        *,
        member_ids: Mapping[str, Sequence[str]] | None = None,
        make: MakeMember = make_member,
        with_story: bool = True,
        with_rules: bool = True,
        initial: InitialState = _EMPTY,
    ) -> None:
        """Without `with_rules` nothing is checked: a run for its figures alone takes less time."""
        self.scenario = scenario
        self.schedule = Schedule(initial.at_ms)
        self.topics = SimulatedTopics(
            self.schedule, scenario.topics, scenario.records_per_s, initial.topic_ids, initial.offsets
        )
        self.processes: dict[str, Process] = {}  # The last process of each member; it may have exited
        self.log: list[Record] = list(initial.log)
        self.ends = [len(self.log)]  # Offsets of the log where a batch ends
        self.nodes: dict[int, CoordinatorNode] = {}
        self.answered = 0
        self.has_no_faults = False
        self._seed, self._rests = seed, 0
        self._kept = 0  # The number of log records that the last `forget` has left
        self._random, self._ids = Random(f"{seed} network"), Random(f"{seed} ids")  # noqa: S311
        self._member_ids = {name: list(ids) for name, ids in (member_ids or {}).items()}
        self._clients, self._histories = initial.clients, dict(initial.histories)
        self._make = make
        self._scripts: dict[str, model.MemberScript] = dict(scenario.members)
        self._known: dict[str, str] = {}  # Member names by id
        self._uuids: dict[str, UUID] = {}  # The id of a classic member's current process, if it is prescribed
        self._starting: dict[str, int] = {}  # The number of processes that a member has had
        self._after: dict[Process, int] = {}
        """How long after it stops a process is restarted; processes that are not restarted are missing."""
        self._config = Config.parse(scenario.settings)
        self.story = RunStory(self.schedule, self.name_of, self.topics.name, is_kept=with_story)
        if scenario.streams is not None:
            application = StreamsApplication(
                scenario.streams, self.schedule, self.story.add, self._fresh, initial.streams
            )
            self._make = application.make
        self.measures = Measures(self.schedule, self.name_of)
        self.violations = Violations(self.schedule, self.story, shares_partitions=shares_partitions(scenario))
        self.broken = self.violations.add
        self._log_rules = LogRules(self)
        self.clients = ClientRules(self, self._log_rules.handovers.rejoined)
        self.settling = SettlingRules(self, self._log_rules)
        self.consumption = Consumption(self)
        rules = (self._log_rules, self.settling, self.clients) if with_rules else ()
        stories = (self.story,) if with_story else ()
        self.watchers = Watchers([*stories, self.measures, self.consumption, *rules, self])
        """In this order they observe each event."""
        self._has_rules = with_rules
        self.network = Network(
            self.schedule, scenario.faults, self._random, self._receive, self._find_coordinator
        )
        self.coordinator = self._add_node()
        self._authority = self.coordinator
        """The node whose engine determines the members: the last one that loaded."""
        self.coordinator.load(self.topics.image)
        if initial.log and with_rules:
            self._log_rules.appended(LogAppend(initial.log))
        for event in scenario.events:
            self.schedule.at(initial.at_ms + int(event.at * 1000), self.play, event)

    # Events of the scenario.

    def play(self, event: model.Event) -> None:
        """Apply an event now, whatever its time."""
        match event:
            case model.Start(member=name):
                self._start(name)
            case model.Restart(member=name, script=script, after_s=after_s, kill=kill):
                self._restart(name, script, int(after_s * 1000), kill=kill)
            case ChangeTopic():
                self._change_topic(event)
            case FailCoordinator():
                self._fail_coordinator(event)
            case _:
                process = self.processes.get(event.member)
                if process is not None and process.is_running:
                    what, act = _described(event, process)
                    self.story.add(event.member, what)
                    act()
                    if isinstance(event, model.Subscribe):  # it asks for the new topics
                        at_ms = self.schedule.now_ms + int(self.scenario.metadata_delay_s * 1000)
                        self.schedule.at(at_ms, process.refresh_topics, self.topics.image)

    def prescribe(self, name: str, member_id: str) -> None:
        """Set the id of a member's next process, as its coordinator would generate it."""
        number, ids = self._starting.get(name, -1) + 1, self._member_ids.get(name, [])
        self._member_ids[name] = [*ids[:number], *[""] * (number - len(ids)), member_id]

    def _start(self, name: str) -> None:
        running = self.processes.get(name)
        if running is not None and running.is_running:
            return
        script = self._scripts[name]
        self.story.add(name, "starts")
        number = self._starting[name] = self._starting.get(name, -1) + 1
        ids = self._member_ids.get(name, [])
        prescribed = (ids[number] or None) if number < len(ids) else None
        client, member_uuid = self._clients.get(name, SimulatedClient(id=name)), format_uuid(self._fresh())
        if prescribed is not None and script.protocol == "consumer":
            member_uuid = prescribed
        elif prescribed is not None:
            # The id of a classic member that joins a consumer group: only the UUID, as Kafka writes it.
            self._uuids[name] = parse_uuid(prescribed[-36:])
            if script.instance is None and len(prescribed) > 36:
                client = replace(client, id=prescribed[:-37])
        process = Process(
            name,
            client,
            script,
            after_error(script),
            self.schedule,
            self.network.send,
            self.topics.ends,
            self.watchers.of,
        )
        process.number = number
        self.processes[name] = process
        new = NewMember(
            name=name,
            client_id=client.id,
            script=script,
            image=self.topics.image,
            positions=process.positions,
            member_uuid=member_uuid,
            state=MappingProxyType(process.state),
            history=self._histories.pop(name, frozenset()),
        )
        if script.protocol == "consumer":
            self._known[member_uuid] = name
        self.measures.started(process)
        process.start(self._make(new))

    def _restart(self, name: str, script: model.MemberScript, after_ms: int, *, kill: bool) -> None:
        self._scripts[name] = script
        process = self.processes.get(name)
        if process is None or not process.is_running:
            self._start(name)
            return
        self._after[process] = after_ms
        self.story.add(name, "is killed, and restarts later" if kill else "closes, and restarts later")
        if kill:
            process.kill()
        else:
            process.close()

    def _change_topic(self, event: ChangeTopic) -> None:
        there = self.topics.image.topics.get(event.topic)
        if there is not None and event.deletes:
            for process in self.processes.values():
                process.count_reading()
        gone = self.topics.change(event.topic, event.count, recreated=event.recreate is not None)
        what = "is deleted" if event.count is None else f"has {event.count} partitions"
        self.story.add("", f"topic {event.topic} {what}{', recreated' if event.recreate is not None else ''}")
        for partition in gone:
            for process in self.processes.values():
                process.reset(partition)
            for watcher in self.watchers.of("partition_deleted"):
                watcher.partition_deleted(partition)
        for node in self.nodes.values():
            node.update_topics(self.topics.image)
        seen_ms = self.schedule.now_ms + int(self.scenario.metadata_delay_s * 1000)
        is_deleted = there is not None and event.deletes
        for process in self.processes.values():
            if process.is_running:
                at_ms = seen_ms if is_deleted else self._refresh_ms(process, seen_ms)
                self.schedule.at(at_ms, process.refresh_topics, self.topics.image)

    def _refresh_ms(self, process: Process, seen_ms: int) -> int:
        """When a client refreshes its metadata. A Java client that misses a topic, and every client of the consumer
        protocol for an unknown topic, does not wait for metadata.max.age.ms."""
        if process.script.protocol == "consumer":
            return seen_ms
        settings = MemberSettings.parse(process.script.config)
        member = process.member
        misses = not member.image.topics.keys() >= set(member.subscription.topics)
        is_java = member.identity.library.leader is Leader.JAVA
        every_ms = RETRY_BACKOFF_MAX_MS if misses and is_java else settings.metadata_max_age_ms
        return seen_ms + (process.started_ms - seen_ms) % every_ms

    # The coordinator.

    def _add_node(self) -> CoordinatorNode:
        number = len(self.nodes) + 1
        node = CoordinatorNode(
            number,
            self.schedule,
            self._config,
            self.log,
            self._random,
            self.network.answer,
            self._fresh_id,
            self.watchers.of,
            [LACKS[lack] for lack in self.scenario.without],
        )
        self.nodes[number] = node
        return node

    def _fail_coordinator(self, event: FailCoordinator) -> None:
        old, for_ms = self.coordinator, int(event.for_s * 1000)
        if old.status is not NodeStatus.COORDINATING or old.is_armed:
            return
        self.story.add(COORDINATOR, f"{event.fault.value} of node {old.number}")
        if event.fault is CoordinatorFault.CRASH:
            old.arm(partial(self._crashed, old, event))
            return
        new = self.coordinator = self._add_node()
        new.status = NodeStatus.LOADING
        if event.fault is CoordinatorFault.MOVE:
            old.unload()
            self.schedule.at(self.schedule.now_ms + for_ms, self._take_over, new, old, event)
        else:
            old.become_zombie()
            takes_over_ms = self.schedule.now_ms + min(TAKEOVER_MS, for_ms)
            self.schedule.at(takes_over_ms, self._take_over, new, old, event)
            self.schedule.at(self.schedule.now_ms + for_ms, old.unload)

    def _crashed(self, node: CoordinatorNode, event: FailCoordinator) -> None:
        def restart() -> None:
            self.network.start_node(node.number)
            self._take_over(node, node, event)

        self.story.add(COORDINATOR, f"node {node.number} is down")
        self.network.stop_node(node.number)
        self.schedule.at(self.schedule.now_ms + int(event.for_s * 1000), restart)

    def _take_over(self, node: CoordinatorNode, predecessor: CoordinatorNode, event: FailCoordinator) -> None:
        cleaning = CleanerPositions.draw(self._random, self.ends) if event.compacted else None
        self.story.add(COORDINATOR, f"node {node.number} loads the {'compacted ' * event.compacted}log")
        before, self._authority = self._authority, node
        node.load(self.topics.image, predecessor, cleaning)
        if node.status is NodeStatus.FAILED:
            self._authority = before

    def _find_coordinator(self) -> int | None:
        return None if self.coordinator.status is NodeStatus.DOWN else self.coordinator.number

    def _receive(
        self, connection: SimulatedConnection, number: int, request: AnyRequest, is_late: bool
    ) -> None:
        self.nodes[connection.node].receive(connection, number, request, is_late)

    def _fresh_id(self, connection: SimulatedConnection, request: AnyRequest) -> UUID:
        """The id that a call may need: only a JoinGroup without an id needs one."""
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
        """The engine of the node that coordinates, or was the last to coordinate: it determines the members."""
        return self._authority.engine

    def is_zombie(self, process: Process) -> bool:
        return self.consumption.is_zombie(process)

    def known_flaw(self, process: Process, partition: TopicPartition) -> str:
        """The known flaw by which the process has a partition that others may be assigned, or ""."""
        if partition in process.deleted_owned:
            return TOPIC_RECREATED
        if process.member.member_id in self._log_rules.late_joins:
            return LATE_JOIN
        return self._log_rules.handovers.released.get((process.member.member_id, partition), "")

    def name_of(self, member: str) -> str:
        """The name of the member with that id; the id itself if unknown."""
        return self._known.get(member, member)

    # Observed by the world itself.

    def appended(self, _batch: LogAppend) -> None:
        self.ends.append(len(self.log))

    def answering(self, _answering: Answering) -> None:
        self.answered += 1

    def ended(self, process: Process) -> None:
        self.network.stop_process(process)
        after_ms = self._after.pop(process, None)
        if after_ms is None and process.has_failed and process.after_error is AfterError.RESTART:
            after_ms = AGAIN_MS
        if after_ms is not None:
            self.schedule.at(self.schedule.now_ms + after_ms, self._start, process.name)

    # Time.

    def skip(self, to_ms: int, limit: int) -> bool:
        """Let time pass while the group is idle, without its heartbeats except the last ones; see `Schedule.play`."""
        by_ms = to_ms - CATCH_UP_MS - self.schedule.now_ms
        if by_ms > 0:
            self.schedule.shift(by_ms)
            self.coordinator.skip_time(by_ms, to_ms)
        return self.schedule.play(to_ms, limit)

    def resume_periodic_work(self) -> None:
        """Plan periodic work again, in the members' order, while no request is in flight.
        Randomness is seeded again: what follows does not depend on how much was drawn before."""
        self._rests += 1
        self._random.seed(f"{self._seed} network, after rest {self._rests}")
        self.network.replan()
        for process in self.processes.values():
            process.replan()
        for node in self.nodes.values():
            node.replan()
        if self._has_rules:
            self.settling.unsettled()  # it records when each member was last settled

    def forget(self) -> None:
        """Drop what only matters for the result of the whole run: former owners, offsets that were committed again."""
        self.measures.forget()
        if len(self.log) > 2 * self._kept:
            self.log[:], self.ends = without_old_offsets(self.log, self.ends)
            self._kept = len(self.log)

    def clear_faults(self) -> None:
        """Apply no faults from now on."""
        self.has_no_faults = True
        self.network.clear_faults()


def _described(event: model.ProcessEvent, process: Process) -> tuple[str, Callable[[], None]]:
    """An event of a process in words, and its effect."""
    match event:
        case model.Close():
            return "closes", process.close
        case model.Kill():
            return "is killed", process.kill
        case model.Pause(for_s=for_s):
            return f"does not poll for {seconds_text(for_s)}", partial(process.pause, int(for_s * 1000))
        case model.Freeze(for_s=for_s):
            return f"is frozen for {seconds_text(for_s)}", partial(process.freeze, int(for_s * 1000))
        case model.EnforceRebalance():
            return "calls enforceRebalance", partial(process.call, "enforce_rebalance")
        case model.ChangeState(state=state):
            changes = " ".join(f"{name}={value}" for name, value in state.items())
            return f"changes its state: {changes}", partial(process.change_state, state)
        case model.Subscribe(topics=topics, regex=regex):
            subscription = subscription_to(process.script, topics, regex)
            return f"subscribes to {regex or ' '.join(topics)}", partial(
                process.change, "subscribe", subscription
            )
        case model.Unsubscribe():
            return "unsubscribes", partial(process.change, "unsubscribe")
        case model.Assign(partitions=by_topic):
            partitions = places(by_topic)
            return f"assigns itself {partition_text(partitions)}", partial(
                process.change, "assign", partitions
            )
        case model.Commit():
            return "calls commitSync", partial(process.call, "commit")
        case model.AskCommitted():
            return "calls committed", partial(process.call, "committed")
