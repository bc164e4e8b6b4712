"""Topics with records at known times, and groups that can be reset and deleted again and again."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, KafkaException

from tests.cli.dropin.changing import ChangeScene
from tests.cli.offset_rig import FIRST_MS, STEP_MS, OffsetRig, Place
from tests.kafka.connect import join_connect_group
from tests.kafka.groups import describe, wait_group
from tests.kafka.java_host import JavaHost
from tests.kafka.members import Members

ORDERS, AUDITS, LONG = "orders", "audits", "a-topic-with-a-name-that-is-longer-than-the-column"
NAMES = {
    "payments": "payments", "billing": "billing", "absent": "absent", "odd": 'the "odd", one', "rested": "resting",
    "classic": "classic", "consumer": "live", "share": "share", "connect": "stock",
    "orders": ORDERS, "audits": AUDITS, "long": LONG,
}  # fmt: skip
"""No two groups share a bin of Java's map: the order of those that do is another one in every JVM."""
OFFSETS: Mapping[str, Mapping[Place, int]] = {
    "payments": {(ORDERS, 0): 7, (ORDERS, 1): 8, (ORDERS, 2): 3, (AUDITS, 0): 1, (AUDITS, 31): 0},
    "billing": {(ORDERS, 0): 2, (LONG, 1): 1},
    'the "odd", one': {(ORDERS, 0): 20},
    "resting": {(ORDERS, 0): 4},
}
"""What the groups without members have committed when a tool begins."""
WITHOUT_MEMBERS = [*OFFSETS, "absent"]


@dataclass(slots=True)
class Stage:
    rig: OffsetRig

    def topics(self) -> None:
        """`orders`: 20 records, 20 of which 5 are gone, 10, none. The others: 2 records in each partition."""
        self.rig.topic([20, 20, 10, 0], deleted={1: 5}, name=ORDERS)
        self.rig.topic([2] * 40, name=AUDITS)
        self.rig.topic([2] * 30, name=LONG)

    def lay(self) -> None:
        """Groups without members as they are when a tool begins."""
        for group in WITHOUT_MEMBERS:
            offsets = dict(OFFSETS.get(group, {}))
            if self._committed(group) == offsets and (group != "resting" or self._exists(group)):
                continue
            if group == "resting":
                self._rest(group)
            else:
                self._delete(group)
            self.rig.group(offsets, group)

    def state(self) -> object:
        """By group what it has committed; nothing of those that are gone."""
        return {group: self._committed(group) for group in WITHOUT_MEMBERS}

    def _committed(self, group: str) -> dict[Place, int]:
        return self.rig.committed(group)

    def _exists(self, group: str) -> bool:
        return describe(self.rig.broker, group) is not None

    def _delete(self, group: str) -> None:
        for future in self.rig.admin.delete_consumer_groups([group]).values():
            try:
                future.result()
            except KafkaException as error:
                if error.args[0].code() != KafkaError.GROUP_ID_NOT_FOUND:
                    raise

    def _rest(self, group: str) -> None:
        """Make a group of type consumer whose member has left, without offsets."""
        if not self._exists(group):
            settings = {
                "bootstrap.servers": self.rig.broker.bootstrap, "group.id": group, "group.protocol": "consumer",
                "enable.auto.commit": False,
            }  # fmt: skip
            member = Consumer(settings)
            member.subscribe([ORDERS])
            deadline = time.monotonic() + 30
            while not member.assignment():
                assert time.monotonic() < deadline, f"{group} got no assignment"
                member.poll(0.05)
            member.close()
            wait_group(self.rig.broker, group, members=0, state="Empty")
        for topic in {topic for topic, _ in self._committed(group)}:
            self.rig.tool("--delete-offsets", "--group", group, "--topic", topic)


@contextmanager
def change_scene(rig: OffsetRig, jars: Path, host: JavaHost, scratch: Path) -> Iterator[ChangeScene]:
    """Lay the scene and start the members of the active groups."""
    stage = Stage(rig)
    stage.topics()
    members = Members(host, jars, scratch)
    try:
        members.java(rig.broker, NAMES["classic"], [ORDERS], enable_auto_commit="false")
        members.java(
            rig.broker, NAMES["consumer"], [ORDERS], group_protocol="consumer", enable_auto_commit="false"
        )
        members.share(rig.broker, NAMES["share"], [ORDERS])
        join_connect_group(rig.broker, NAMES["connect"])
        stage.lay()
        for kind in ("classic", "consumer", "share", "connect"):
            wait_group(rig.broker, NAMES[kind], members=1, state="Stable")
        yield ChangeScene(names={**NAMES, "ago": _since(7.5)}, lay=stage.lay, state=stage.state)
    finally:
        members.end()


def _since(records: float) -> str:
    """The duration back to a record; between two of them, whole minutes apart, a test may take its time."""
    return f"PT{int(time.time() - (FIRST_MS + records * STEP_MS) / 1000)}S"
