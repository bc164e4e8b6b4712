"""Whatever a broker's answer lacks, every command that reads either gives its whole answer or says what it lacks."""

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from tests.cli.command import Answer, Kohort
from tests.cli.dropin.harness import run_here
from tests.cli.fleet import Fleet
from tests.cli.mutilated import Kind, MutilatedBroker, Mutilation, mutilations, shares
from tests.cli.served_data import serving
from tests.kafka.connect import join_group
from tests.kafka.wire import ask
from tests.support.long import IS_LONG, LONG
from wire.messages.embedded_protocol import (
    EmbeddedAssignment,
    EmbeddedSubscription,
    write_assignment,
    write_subscription,
)
from wire.messages.schemas.cluster import METADATA

TOPIC, PARTITIONS = "orders", 3
TIMEOUT_MS = 400
LONGEST_S = 30.0

COMMANDS = (
    "list", "list --state Stable,Empty", "list --topic orders", "describe --all-groups", "describe live kip idle",
    "describe --all-groups --members --verbose", "describe live kip --state",
    "describe idle --lag-time", "describe --all-groups --authorized-operations", "describe live --totals", "snapshot",
    "plan live --to consumer", "dry-run live", "config get idle", "features list", "validate-regex ord.*",
    "exporter --once",
    "offsets export idle", "delete idle", "members remove live --all", "offsets clone idle copy",
    f"offsets reset idle --to-earliest --topic {TOPIC}", "offsets reset idle --shift-by -1 --all-topics",
    f"offsets delete idle --topic {TOPIC}",
)  # fmt: skip
TOOL_COMMANDS = (
    "--list", "--list --state", "--describe --all-groups", "--describe --all-groups --members --verbose",
    "--describe --all-groups --state", "--describe --group idle",
    "--reset-offsets --all-groups --to-earliest --all-topics --dry-run",
    f"--reset-offsets --group idle --to-latest --topic {TOPIC} --dry-run",
    f"--delete-offsets --group none --topic {TOPIC}",
)  # fmt: skip
"""Commands of `kohort-consumer-groups`."""

REQUESTED = {
    "Metadata": {"topics"}, "ListOffsets": {"topics", "partitions"}, "OffsetFetch": {"groups"},
    "FindCoordinator": {"coordinators"}, "DescribeGroups": {"groups"}, "ConsumerGroupDescribe": {"groups"},
    "DescribeConfigs": {"results"}, "ApiVersions": set(),
}  # fmt: skip
"""Arrays with an element for each thing that was asked for: one that is missing shows. Any other may be as it is."""
LISTING_TOPICS = ("snapshot", "validate-regex")
"""Commands that request all topics."""
TIMED = "timestamp|duration|lag_seconds|kohort_last_poll|kohort_series|process_|python_|_created"
MOMENTS = re.compile(f"^.*(?:{TIMED}).*$", re.MULTILINE)


@dataclass(slots=True)
class Scene:
    """A cluster of a group of each kind that Kohort serves, and what each command answers about it."""

    broker: MutilatedBroker
    kohort: Kohort
    whole: dict[str, Answer] = field(default_factory=dict)
    met: dict[str, list[Mutilation]] = field(default_factory=dict)

    def watch(self, commands: Iterable[str]) -> None:
        for command in commands:
            self.broker.answers.clear()
            self.whole[command] = self.run(command)
            self.met[command] = list(mutilations(self.broker.answers))

    def faults(self, changes: Mapping[str, Sequence[Mutilation]]) -> list[str]:
        """What is wrong with the answers of commands to some changes."""
        return [
            f"{command}: {change}: {fault}"
            for command, met in changes.items()
            for change in met
            if (fault := self.fault(command, change)) is not None
        ]

    def run(self, command: str) -> Answer:
        server = self.broker.bootstrap
        if command.startswith("--"):
            words = [*command.split(), "--bootstrap-server", server, "--timeout", str(TIMEOUT_MS)]
            return run_here(words)
        is_plain = command.startswith(("snapshot", "exporter", "offsets export"))
        output = [] if is_plain else ["--output", "json"]
        return self.kohort.quick(command, "-b", server, "--timeout", str(TIMEOUT_MS), *output)

    def fault(self, command: str, change: Mutilation) -> str | None:
        """What is wrong with the answer of a command to a changed answer of the broker."""
        began = time.monotonic()
        self.broker.mutilation = change
        try:
            answer = self.run(command)
        finally:
            self.broker.mutilation = None
        whole = self.whole[command]
        text = answer.stdout + answer.stderr
        if answer.traceback or "internal error" in text:
            return f"a fault of the program: {answer.stderr[-400:]}{answer.stdout[-200:]}"
        if time.monotonic() - began > LONGEST_S:
            return "it hangs"
        if answer.status in (3, 4):
            is_said = answer.stderr.strip() or "Error: " in answer.stdout
            return None if is_said else f"status {answer.status} without a word"
        # A topic may be missing from a list of all of them: there may be none.
        is_list = change.api is METADATA and change.kind is Kind.SHORT and command.startswith(LISTING_TOPICS)
        if is_list or may_be_so(change) or finds_more(whole, answer):
            return None
        if answer.status != whole.status:
            return f"status {answer.status}, not {whole.status}: {text[-300:]}"
        if content(answer) != content(whole):
            return f"less, with status {answer.status}: {difference(content(whole), content(answer))}"
        return None


def may_be_so(change: Mutilation) -> bool:
    if change.kind in (Kind.NULL, Kind.LATER):
        return True
    name = next(step for step in reversed(change.path) if isinstance(step, str)) if change.path else ""
    return change.kind is Kind.SHORT and name not in REQUESTED.get(change.api.name, ())


def finds_more(whole: Answer, answer: Answer) -> bool:
    if "findings" not in whole.stdout:
        return False
    before, now = (json.loads(text.stdout).get("findings", []) for text in (whole, answer))
    return any("unknown" in finding["message"] for finding in now if finding not in before)


def content(answer: Answer) -> str:
    return MOMENTS.sub("", answer.stdout)


def difference(whole: str, now: str) -> str:
    before, after = whole.splitlines(), set(now.splitlines())
    return "; ".join([line.strip() for line in before if line not in after][:5])


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with serving(None, "--topic", f"{TOPIC}:{PARTITIONS}") as served:
        metadata = write_subscription(EmbeddedSubscription(version=3, topics=(TOPIC,), rack="a"))
        owned = EmbeddedAssignment(version=1, partitions={TOPIC: tuple(range(PARTITIONS))})
        join_group(served, "live", "consumer", metadata, write_assignment(owned), "range")
        absent = dict.fromkeys(("instance_id", "rack_id", "subscribed_topic_regex", "server_assignor"))
        ask(
            served.port, "ConsumerGroupHeartbeat", 1, group_id="kip", member_id="kip-1", member_epoch=0, **absent,
            rebalance_timeout=60_000, subscribed_topic_names=[TOPIC], topic_partitions=[],
        )  # fmt: skip
        offset = {"committed_offset": 0, "committed_metadata": ""}
        offsets = [{**offset, "partition_index": number} for number in range(PARTITIONS)]
        ask(served.port, "OffsetCommit", 9, group_id="idle", topics=[{"name": TOPIC, "partitions": offsets}])
        broker = MutilatedBroker(served.port)
        with broker:
            made = Scene(broker, Kohort(tmp_path_factory.mktemp("home")))
            made.watch([*COMMANDS, *TOOL_COMMANDS])
            yield made


def test_every_answer_is_whole_or_says_what_it_lacks(scene: Scene) -> None:
    changes: Mapping[str, Sequence[Mutilation]] = scene.met
    if not IS_LONG:
        few = shares(scene.met, 2)
        # All that leave out something that was requested.
        changes = {
            command: few[command]
            + [change for change in met if change.kind is Kind.SHORT and not may_be_so(change)]
            for command, met in scene.met.items()
        }
    assert sum(map(len, changes.values())) > 400
    assert scene.faults(changes) == []


@LONG
@pytest.mark.kafka
def test_every_answer_about_groups_that_only_kafka_serves(fleet: Fleet, kohort: Kohort) -> None:
    share, streams, mixed, simple = (fleet.groups[kind] for kind in ("share", "streams", "mixed", "simple"))
    names = f"{share} {streams} {mixed} {simple} {fleet.groups['connect']}"
    commands = [
        "list", f"describe {names}", f"describe {names} --members --verbose", f"describe {names} --state",
        f"describe {names} --authorized-operations", f"describe {share} {mixed} --lag-time", f"snapshot {names}",
        f"exporter --once --match ^{fleet.prefix}", f"offsets export {simple} {share}", f"delete {share} {simple}",
        f"members remove {streams} --all", f"members remove {share} --all",
        f"offsets reset {share} --to-earliest --topic {fleet.topic}", f"plan {mixed} --to consumer",
    ]  # fmt: skip
    broker = MutilatedBroker(fleet.broker.port)
    with broker:
        scene = Scene(broker, kohort)
        scene.watch(commands)
        assert scene.faults(scene.met) == []
