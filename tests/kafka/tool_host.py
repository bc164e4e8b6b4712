"""Kafka's own command line tools, many calls in one JVM."""

import subprocess
from pathlib import Path

from cli.dropin.wording import WORDINGS
from tests.kafka.broker import RunningBroker
from tests.kafka.programs import SILENT, Answerer

Completed = subprocess.CompletedProcess[str]

CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
GROUPS = "org.apache.kafka.tools.GroupsCommand"
SHARE_GROUPS = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
STREAMS_GROUPS = "org.apache.kafka.tools.streams.StreamsGroupCommand"
STREAMS_RESET = "org.apache.kafka.tools.StreamsResetter"
DUMP_LOG = "org.apache.kafka.tools.DumpLogSegments"

LOGGING = (
    SILENT,
    *(f"-Dorg.slf4j.simpleLogger.log.{texts.logger}=warn" for texts in WORDINGS.values()),
)
"""Only what a tool has to tell its user: that an offset is out of range."""


class ToolHost(Answerer):
    """One JVM, started with the first call; a call takes some 0.1 s where a separate JVM takes 0.7 s."""

    def __init__(self, jars: Path) -> None:
        super().__init__(jars, "Tools", options=LOGGING)

    def run(self, main: str, *args: str, stdin: str = "") -> Completed:
        """Run the tool whose class is `main`; the caller looks at the exit status."""
        said = self.answer({"main": main, "args": args, "stdin": stdin})
        return subprocess.CompletedProcess((main, *args), said["status"], said["stdout"], said["stderr"])

    def ask(self, broker: RunningBroker, main: str, *args: str) -> Completed:
        return self.run(main, "--bootstrap-server", broker.bootstrap, *args)
