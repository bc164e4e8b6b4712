"""`kohort offsets reset` on a real broker, compared with kafka-consumer-groups on the same state."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cli.errors import UsageError
from cli.sources.writer import writer_of
from groups.offsets.model import OffsetChange
from tests.cli.offset_rig import OffsetRig, after
from tests.cli.sources.live_source import admin_only
from tests.cli.stories import Story
from tests.kafka.members import fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from wire.client.connection import Connection
from wire.messages.definition import Api


@pytest.fixture(scope="module")
def topic(session_rig: OffsetRig) -> str:
    """Four partitions: 20 records, 20 of which 5 are gone, 10, none."""
    return session_rig.topic([20, 20, 10, 0], deleted={1: 5})


def test_resets_have_the_recorded_answers(rig: OffsetRig, topic: str, tmp_path: Path) -> None:
    story = Story(rig, orders=topic)
    reset = "offsets reset {payments} --topic {orders}"
    story.group("payments", {0: 3})
    story.tell(f"{reset}:0,1,2 --shift-by 1 --execute --yes")
    story.tell(f"{reset} --to-offset 15")
    story.tell(f"{reset}:1 --to-offset 0")
    for scope in ("no-such-topic", "{orders}:9", "{orders}:0,9,7"):
        story.tell(f"offsets reset {{payments}} --topic {scope} --to-latest --execute --yes")
    story.committed("payments")
    with story.joined("payments"):
        story.tell(f"{reset} --to-latest")
        story.tell(f"{reset} --to-latest --execute --yes", output="json")
        story.committed("payments")
    story.tell(f"{reset} --to-latest --execute --yes")
    story.committed("payments")
    story.group("outside", {0: 500, 1: 1})
    story.tell("offsets reset {outside} --topic {orders}:0,1 --to-current")
    story.name("new")
    story.tell("offsets reset {new} --topic {orders}:0 --to-latest")
    story.tell("offsets reset {new} --topic {orders}:0 --to-latest --execute --yes")
    story.group("one", {0: 9, 1: 1})
    story.group("other", {0: 3, 2: 4})
    story.tell("offsets reset {other} --to-group {one} --execute --yes")
    story.tell("offsets reset {other} --to-group no-such-group")
    story.committed("new", "other")
    single, several = tmp_path / "single.csv", tmp_path / "several.csv"
    single.write_text(f"{topic},0,8\n{topic},1,2\n{topic},2,99\n")
    lines = (("one", "0,8"), ("other", "1,1"), ("other", "2,5"))
    several.write_text("".join(f"{story.names[group]},{topic},{rest}\n" for group, rest in lines))
    story.names |= {"single": str(single), "several": str(several)}
    for groups, file in (
        ("{one}", "{single}"),
        ("{one} {other}", "{single}"),
        ("{one} {other}", "{several}"),
    ):
        story.tell(f"offsets reset {groups} --from-file {file}")
    story.is_as_recorded("offsets/reset.txt")


def test_resets_of_several_groups_have_the_recorded_answers(rig: OffsetRig, topic: str) -> None:
    story = Story(rig, orders=topic)
    story.name("few", "many")
    for name, letters in (("few", "abc"), ("many", "defghij")):
        for letter in letters:
            story.names[letter] = f"{story.names[name]}-{letter}"
            story.group(letter, {0: 3, 1: 7})
    few = "offsets reset --match ^{few} --all-topics --to-earliest"
    with story.joined("b"):
        story.tell(few)
        story.tell(f"{few} --execute --yes")
    story.tell("offsets reset --match ^{many} --all-topics --to-latest --execute --yes")
    story.committed("a", "b", "c", "d", "j")
    story.tell("delete --match ^{many} --execute --yes")
    story.is_as_recorded("offsets/several.txt")


def test_a_large_group_is_set_in_one_request(rig: OffsetRig, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = fresh_name("wide")
    create_topics(rig.broker, {topic: 1000})
    group = rig.group({(topic, number): 0 for number in range(1000)})
    words = ["offsets", "reset", group, "--all-topics", "--to-latest"]
    # The broker shows leaders before it is one of them all.
    wait_until(lambda: rig.ours(*words).status == 0, "1,000 leaders", timeout_s=150, every_s=1)
    asked: Counter[str] = Counter()
    ask = Connection.ask

    def counting(self: Connection, api: Api, messages: Sequence[Any], *more: Any) -> Any:
        asked[api.name] += len(messages)
        return ask(self, api, messages, *more)

    monkeypatch.setattr(Connection, "ask", counting)
    answer = rig.ours(*words, "--execute", "--yes").succeeded()
    assert len(after(answer)) == 1000
    assert asked["OffsetCommit"] == 1
    assert asked.total() < 15


def test_where_only_the_admin_client_can_log_in(rig: OffsetRig, topic: str) -> None:
    group = rig.group({(topic, 0): 3})
    changes = [
        OffsetChange(topic=name, partition=number, before=None, after=5, earliest=0, end=20)
        for name, number in ((topic, 0), (topic, 1), ("no-such-topic", 0))
    ]
    with admin_only(rig.broker) as source:
        writer = writer_of(source)
        reported = writer.commit({group: changes})[group]
        with pytest.raises(UsageError, match=r"use Kafka's own tools"):
            writer.delete_offsets({group: [(topic, 0)]})
    assert (reported[topic, 0], reported[topic, 1]) == (None, None)
    unknown = reported["no-such-topic", 0]
    assert unknown is not None
    assert (unknown.refused, unknown.message) == (True, "Unknown topic or partition (UNKNOWN_TOPIC_OR_PART)")
    assert rig.committed(group) == {(topic, 0): 5, (topic, 1): 5}
