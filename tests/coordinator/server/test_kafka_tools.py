"""Kafka's own command line tools print the same about `kohort serve` as about a real broker."""

import re
from pathlib import Path

import pytest

from coordinator.store.partition_files import OFFSETS_TOPIC, partition_for
from tests.conformance.servers import kohort_serve
from tests.kafka.broker import Broker
from tests.kafka.members import fresh_name
from tests.kafka.ports import HOST
from tests.kafka.tool_host import CONSUMER_GROUPS, ToolHost
from tests.kafka.wait import wait_until

TOOLS = {
    "console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "cluster": "org.apache.kafka.tools.ClusterTool", "configs": "org.apache.kafka.tools.ConfigCommand",
    "consumer-groups": CONSUMER_GROUPS, "features": "org.apache.kafka.tools.FeatureCommand",
    "get-offsets": "org.apache.kafka.tools.GetOffsetShell", "groups": "org.apache.kafka.tools.GroupsCommand",
    "leader-election": "org.apache.kafka.tools.LeaderElectionCommand",
    "log-dirs": "org.apache.kafka.tools.LogDirsCommand", "topics": "org.apache.kafka.tools.TopicCommand",
}  # fmt: skip
COMMANDS = """
topics --create --topic T --partitions 2 --replication-factor 1 --config retention.ms=5000
topics --create --topic T --partitions 2
topics --create --topic T-2 --config no.such=1
topics --create --topic T-2 --config retention.ms=x
topics --describe --topic T
topics --alter --topic T --partitions 3
topics --alter --topic T --partitions 1
topics --describe --topic T
topics --describe --topic T --topics-with-overrides
topics --describe --topic T-missing
topics --list --topic T
configs --entity-type topics --entity-name T --describe
configs --entity-type topics --entity-name T --alter --add-config cleanup.policy=[compact,delete],retention.bytes=77
configs --entity-type topics --entity-name T --alter --add-config retention.ms=x
configs --entity-type topics --entity-name T --describe --all
configs --entity-type topics --entity-name T --alter --delete-config retention.bytes
configs --entity-type topics --entity-name T --describe
configs --entity-type brokers --entity-name 1 --alter --add-config log.cleaner.backoff.ms=14000
configs --entity-type brokers --entity-name 1 --describe
configs --entity-type brokers --entity-name 1 --alter --delete-config log.cleaner.backoff.ms
configs --entity-type brokers --entity-name 1 --alter --add-config num.partitions=9
configs --entity-type brokers --entity-name 1 --describe --all
configs --entity-type groups --entity-name T --alter --add-config consumer.session.timeout.ms=50000
configs --entity-type groups --entity-name T --describe --all
configs --entity-type groups --entity-name T --alter --add-config consumer.session.timeout.ms=1
configs --entity-type groups --entity-name T --alter --delete-config consumer.session.timeout.ms
configs --entity-type users --describe
configs --entity-type clients --describe
configs --entity-type client-metrics --describe
cluster list-endpoints B
get-offsets --topic T
get-offsets --topic-partitions T:0 --time earliest
log-dirs --describe --topic-list T
leader-election --election-type preferred --topic T --partition 0
consumer-groups --reset-offsets --group T-g --topic T --to-offset 0 --execute
consumer-groups --describe --group T-g
consumer-groups --describe --group T-g --state
consumer-groups --describe --group T-g --members --verbose
consumer-groups --delete-offsets --group T-g --topic T
consumer-groups --delete --group T-g
consumer-groups --describe --group T-g
features B describe
features B downgrade --feature group.version=0 --dry-run
features B upgrade --feature group.version=7 --dry-run
topics --delete --topic T
topics --describe --topic T
"""
"""T is a name that only this test uses; B is the place of the server's options, if they are not first."""
CHANGING = {"--create", "--alter", "--execute", "--delete", "--delete-offsets", "console-consumer"}
_VARIES = re.compile(r'TopicId: \S+|"logDir":"[^"]*"|\[\d{4}-[^\]]*\]|\(kafka\..*?\)|Epoch: \d+')
_ELSEWHERE = re.compile(
    r".*\b(listeners|log\.dirs?|listener\.security\.protocol\.map|controller\.\S+"
    r"|inter\.broker\.listener\.name|metadata\.max\.idle\.interval\.ms)=.*"
    r"|Feature: (kraft|share|streams)\.version.*"
)
"""Lines that differ because a broker is its own controller, and has share and streams groups."""


def said(tools: ToolHost, port: int, words: list[str]) -> tuple[int, list[str], str]:
    """The exit status and output of a tool, without the parts that vary."""
    tool, *args = words
    server = ["--bootstrap-server", f"{HOST}:{port}"]
    if tool == "consumer-groups":
        server += ["--timeout", "60000"]
    index = args.index("B") if "B" in args else 0
    run = tools.run(TOOLS[tool], *args[:index], *server, *[arg for arg in args[index:] if arg != "B"])
    lines = _VARIES.sub("", run.stdout.replace(str(port), "PORT")).splitlines()
    trouble = _VARIES.sub("", run.stderr.replace(str(port), "PORT")).partition("\n\tat ")[0]
    return run.returncode, [line for line in lines if not _ELSEWHERE.fullmatch(line)], trouble


def assert_same(tools: ToolHost, broker: Broker, port: int, words: list[str]) -> int:
    """Both print the same; a broker sees a change of topics and settings a moment after its controller has answered,
    and is asked again by commands that change nothing. Returns the exit status."""
    ours = said(tools, port, words)
    real: list[tuple[int, list[str], str]] = []

    def same() -> bool:
        real[:] = [said(tools, broker.port, words)]
        return real == [ours]

    patience_s = 0 if CHANGING.intersection(words) else 30
    wait_until(same, lambda: f"{' '.join(words)}:\n{ours}\nand not {real}", timeout_s=patience_s)
    return ours[0]


@pytest.mark.kafka
def test_kafkas_tools_print_the_same(tools: ToolHost, broker: Broker, tmp_path: Path) -> None:
    name = fresh_name("tools")
    with kohort_serve(tmp_path / "serve.log", {}) as port:
        for command in COMMANDS.strip().splitlines():
            words = [re.sub(r"^T(?=$|-|:)", name, word) for word in command.split()]
            assert_same(tools, broker, port, words)


CONSOLE = """
get-offsets --topic T
console-consumer --topic T --from-beginning --max-messages 3 --group T-g --property print.key=true
console-consumer --topic T --partition 0 --offset 1 --max-messages 1
consumer-groups --describe --group T-g --offsets
log-dirs --describe --topic-list T
"""


@pytest.mark.kafka
def test_console_producer_and_consumer(tools: ToolHost, broker: Broker, tmp_path: Path) -> None:
    name = fresh_name("console")
    with kohort_serve(tmp_path / "serve.log", {}) as port:
        for one in (broker.port, port):
            said(tools, one, ["topics", "--create", "--topic", name, "--partitions", "1"])
            written = tools.run(
                "org.apache.kafka.tools.ConsoleProducer",
                "--bootstrap-server", f"{HOST}:{one}", "--topic", name,
                "--reader-property", "parse.key=true", "--reader-property", "key.separator==",
                stdin="a=1\nb=2\na=3\n",
            )  # fmt: skip
            assert written.returncode == 0, written.stderr
        for command_line in CONSOLE.strip().splitlines():
            words = [re.sub(r"^T(?=$|-)", name, word) for word in command_line.split()]
            assert assert_same(tools, broker, port, words) == 0, command_line


GET_OFFSETS = ["get-offsets", "--topic", OFFSETS_TOPIC]
READ = ["console-consumer", "--topic", OFFSETS_TOPIC, "--timeout-ms", "10000"]
FORMAT = "--formatter org.apache.kafka.tools.consumer.OffsetsMessageFormatter"


@pytest.mark.kafka
def test_console_consumer_of_internal_topics(tools: ToolHost, broker: Broker, tmp_path: Path) -> None:
    name = fresh_name("internal")
    printed = []
    with kohort_serve(tmp_path / "serve.log", {}, "--data", str(tmp_path / "data")) as port:
        for one in (broker.port, port):
            said(tools, one, ["topics", "--create", "--topic", name, "--partitions", "2"])
            reset = f"--reset-offsets --to-earliest --execute --group {name} --topic {name}"
            assert said(tools, one, ["consumer-groups", *reset.split()])[0] == 0
            ends = dict(line.split(":")[1:] for line in said(tools, one, GET_OFFSETS)[1])
            number = str(partition_for(name, len(ends)))
            options = f"--partition {number} --offset earliest --max-messages {ends[number]} {FORMAT}"
            offsets = said(tools, one, [*READ, *options.split()])[1]
            records = re.sub(r"\d{13}|(?<=topicId\":)\"[^\"]*\"", "?", "".join(offsets)).split('{"key":')
            printed.append(sorted(record for record in records if name in record))
    assert len(printed[0]) == 2
    assert printed[1] == printed[0]
