"""Every changing command with what it changes, on a broker behind a turnstile."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from tests.kafka.members import fresh_name
from tests.kafka.ports import HOST
from tests.kafka.turnstile import Turnstile
from wire.acls import ConfigResourceType
from wire.client.address import Address
from wire.client.cluster import KafkaClient
from wire.client.connection import Connection
from wire.client.faults import ask_for_fault, fault_client
from wire.client.groups import describe_groups
from wire.client.offsets import NewOffset, commit_offsets, fetch_offsets
from wire.client.security import ConnectionSettings
from wire.client.settings import describe_configs
from wire.client.steps import Deadline, Steps
from wire.messages.schemas.classic_groups import DESCRIBE_GROUPS, JOIN_GROUP
from wire.messages.schemas.faults import LIST

SETTING = "consumer.session.timeout.ms"
RECORDS = 20


@dataclass(kw_only=True)
class Port:
    """The broker behind a turnstile."""

    port: int

    @property
    def bootstrap(self) -> str:
        return f"{HOST}:{self.port}"

    def check_alive(self) -> None:
        """Its own test does."""


@dataclass(kw_only=True)
class Scene:
    """A cluster, its own client past the turnstile's count, and files."""

    turnstile: Turnstile
    client: KafkaClient
    topic: str
    directory: Path
    replace_topic: Callable[[str], object]
    """Creates a topic with one partition, after deleting it if it exists."""
    requests: Sequence[int] = ()
    """The API keys of the requests of the last run."""
    group: str = ""
    """The group of the present run: it has committed 3 in partition 0."""
    ends: ExitStack = field(default_factory=ExitStack)
    """Ends what was prepared for a run."""

    @property
    def bootstrap(self) -> str:
        return f"{HOST}:{self.turnstile.port}"

    @property
    def broker(self) -> Port:
        return Port(port=self.turnstile.port)

    def fresh(self) -> None:
        self.group = fresh_name("changed")
        self.commit(3)

    def commit(self, offset: int, topic: str = "") -> None:
        partition = topic or self.topic, 0
        (outcome,) = commit_offsets(
            self.client, {self.group: {partition: NewOffset(offset=offset)}}
        ).found.values()
        assert outcome[partition] is None, outcome

    def committed(self, group: str = "") -> int | None:
        commits = fetch_offsets(self.client, [group or self.group]).found[group or self.group]
        topics = {topic.name: topic.partitions for topic in commits.topics}
        offsets = {part.partition_index: part.committed_offset for part in topics.get(self.topic, ())}
        return offsets.get(0)

    def setting(self) -> str | None:
        settings = describe_configs(self.client, ConfigResourceType.GROUP, [self.group]).found[self.group]
        return settings[SETTING].value

    def members(self) -> list[str | None]:
        groups = describe_groups(self.client, DESCRIBE_GROUPS, [self.group]).found
        return [member.group_instance_id for group in groups.values() for member in group.members]

    def join(self) -> None:

        def ask(connection: Connection, groups: Sequence[str], deadline: Deadline) -> Steps[dict[str, Any]]:
            request = {
                "group_id": self.group, "session_timeout_ms": 300_000, "rebalance_timeout_ms": 300_000,
                "member_id": "", "group_instance_id": "one", "protocol_type": "consumer",
                "protocols": [{"name": "range", "metadata": b"\0\0\0\0\0\0\xff\xff\xff\xff"}],
            }  # fmt: skip
            yield from connection.open(deadline)
            (answer,) = yield from connection.ask(JOIN_GROUP, [request], deadline)
            return dict.fromkeys(groups, answer)

        answer = self.client.ask_coordinators([self.group], ask).found[self.group]
        assert not answer.error_code, answer

    def has_fault(self) -> bool:
        settings = ConnectionSettings(bootstrap_servers=(self.bootstrap,))
        with fault_client(settings) as client:
            rules = ask_for_fault(client, 30_000, operation=LIST).rules
        return any(json.loads(rule.event).get("group") == self.group for rule in rules)

    def file(self, name: str, text: str) -> Path:
        file = self.directory / name
        file.write_text(text)
        return file


Effect = Callable[[Scene], bool]


@dataclass(frozen=True, kw_only=True)
class Change:
    """A command, and its effects by what says that they were made. `lasts_s`: about, None if it is short."""

    line: Callable[[Scene], Sequence[str | Path]]
    effects: Mapping[str, Effect] = field(default_factory=dict)
    prepare: Callable[[Scene], None] = lambda _: None
    program: str = "kohort"
    confirmation: tuple[str, ...] = ("--execute", "--yes")
    lasts_s: float | None = None
    needs_kafka: bool = False

    def command(self, scene: Scene, timeout_s: int) -> Sequence[str | Path]:
        limit = ("--timeout", str(timeout_s * 1000), "--bootstrap-server", scene.bootstrap)
        return *self.line(scene), *limit, *self.confirmation


def _reset(scenario: str, offset: int) -> Change:
    return Change(
        line=lambda scene: (f"offsets reset {scene.group} --topic {scene.topic}:0 {scenario}",),
        effects={"set 1 offset of {group}": lambda scene: scene.committed() == offset},
    )


def _of_the_tool(line: str, claim: str, offset: int | None) -> Change:
    return Change(
        line=lambda scene: (line.format(group=scene.group, topic=scene.topic),),
        effects={claim: lambda scene: scene.committed() == offset},
        program="kohort-consumer-groups",
        confirmation=(),
    )


def _applied(scene: Scene) -> Sequence[str | Path]:
    tree = {scene.group: {"settings": {SETTING: 46000}, "offsets": {scene.topic: {"0": 7}}}}
    return "apply", scene.file("desired.json", json.dumps({"kohort": 1, "groups": tree}))


CHANGES: Mapping[str, Change] = {
    "reset": _reset("--to-offset 7", 7),
    "shift": _reset("--shift-by 4", 7),
    "import": Change(
        line=lambda scene: (
            "offsets import", scene.file("offsets.csv", f"{scene.topic},0,7\n\n"), scene.group,
        ),
        effects={"set 1 offset of {group}": lambda scene: scene.committed() == 7},
    ),
    "clone": Change(
        line=lambda scene: (f"offsets clone {scene.group} {scene.group}-copy",),
        effects={"set 1 offset of {group}-copy": lambda scene: scene.committed(f"{scene.group}-copy") == 3},
    ),
    "delete offsets": Change(
        line=lambda scene: (f"offsets delete {scene.group} --topic {scene.topic}",),
        effects={"deleted 1 offset of {group}": lambda scene: scene.committed() is None},
    ),
    "delete": Change(
        line=lambda scene: (f"delete {scene.group}",),
        effects={"deleted {group}": lambda scene: scene.committed() is None},
    ),
    "apply": Change(
        line=_applied,
        effects={
            "changed 1 setting of {group}": lambda scene: scene.setting() == "46000",
            "set 1 offset of {group}": lambda scene: scene.committed() == 7,
        },
    ),
    "remove member": Change(
        line=lambda scene: (f"members remove {scene.group} --instance one",),
        effects={"removed 1 member of {group}": lambda scene: scene.members() == []},
        prepare=Scene.join,
    ),
    "config": Change(
        line=lambda scene: (f"config set {scene.group} {SETTING}=46000",),
        effects={"changed 1 setting of {group}": lambda scene: scene.setting() == "46000"},
    ),
    "fault": Change(
        line=lambda scene: (f"fault delay 1ms --group {scene.group}",),
        effects={"is in force": lambda scene: scene.has_fault()},
        confirmation=(),
    ),
    "the tool's reset": _of_the_tool(
        "--reset-offsets --execute --group {group} --topic {topic}:0 --to-offset 7", "NEW-OFFSET", 7
    ),
    "the tool's deletion": _of_the_tool(
        "--delete --group {group}", "Deletion of requested consumer groups ('{group}') was successful.", None
    ),
    "the tool's deletion of offsets": _of_the_tool(
        "--delete-offsets --group {group} --topic {topic}:0",
        "Request succeeded for deleting offsets from group {group}.", None,
    ),
}  # fmt: skip


@contextmanager
def scene_on(
    turnstile: Turnstile, port: int, directory: Path, replace_topic: Callable[[str], object]
) -> Iterator[Scene]:
    """A scene on the broker at a port, which advertises the turnstile; `topic` has 20 records."""
    turnstile.open(port)
    topic = fresh_name("changes")
    replace_topic(topic)
    producer = Producer({"bootstrap.servers": f"{HOST}:{turnstile.port}", "client.id": "rig", "log_level": 0})
    for _ in range(RECORDS):
        producer.produce(topic, b"", partition=0)
    assert producer.flush(30) == 0
    settings = ConnectionSettings(bootstrap_servers=(str(Address(HOST, turnstile.port)),), client_id="rig")
    with KafkaClient(settings) as client:
        yield Scene(
            turnstile=turnstile, client=client, topic=topic, directory=directory, replace_topic=replace_topic
        )
