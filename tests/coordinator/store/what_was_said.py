"""The output of Kafka's own tools and of Kohort about all groups of a live broker, at one moment."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from tests.cli.command import Kohort
from tests.kafka.broker import Broker
from tests.kafka.columns import Row, parse
from tests.kafka.tool_host import CONSUMER_GROUPS, SHARE_GROUPS, STREAMS_GROUPS, ToolHost
from tests.kafka.wait import wait_until

Document = Mapping[str, Any]

TOOLS = {"consumer": CONSUMER_GROUPS, "share": SHARE_GROUPS, "streams": STREAMS_GROUPS}
MODES = ("--offsets", "--members", "--state")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """All groups settled, except those omitted; documents are those of `--all-groups`."""

    name: str
    before_ms: int  # at the first request
    after_ms: int  # at the last answer: in between nothing changed
    listed: Mapping[str, str]  # by tool: `list --state --type`
    described: Mapping[str, Mapping[str, str]]  # by tool and mode: `--describe --all-groups MODE --verbose`
    kohort_list: Document
    kohort_describe: Document
    kohort_dry_run: Document

    def rows(self, tool: str, mode: str) -> list[Row]:
        return parse(self.described[tool][mode])

    def group(self, name: str) -> Document:
        """Kohort's output about a group; KeyError if it did not know it."""
        return _by_id(self.kohort_describe)[name]


class Witness:
    def __init__(
        self,
        broker: Broker,
        tools: ToolHost,
        kohort: Kohort,
        moving: Collection[str] = (),
        asked: Mapping[str, str] = TOOLS,
    ) -> None:
        """`moving`: groups that never settle, omitted when all groups must be. `asked`: the tools to run."""
        self.broker, self.tools, self.kohort = broker, tools, kohort
        self.moving, self.asked = frozenset(moving), asked

    def tool(self, main: str, *args: str) -> str:
        done = self.tools.run(main, "--bootstrap-server", self.broker.bootstrap, *args)
        if done.returncode != 0:
            raise ChildProcessError(f"{main} {args} said {done.stdout}{done.stderr}")
        return done.stdout

    def ask_kohort(self, *args: str) -> Document:
        answer = self.kohort.quick(*args, "--bootstrap-server", self.broker.bootstrap, "--output", "json")
        if answer.status != 0:
            raise ChildProcessError(f"kohort {args} ended with {answer.status}: {answer.stderr}")
        return answer.document

    def groups(self) -> dict[str, Document]:
        groups = _by_id(self.ask_kohort("describe", "--all-groups"))
        return {name: group for name, group in groups.items() if name not in self.moving}

    def note(self, name: str) -> Moment:
        """Run everything, again if a group changed meanwhile; TimeoutError if the groups do not settle."""

        def noted() -> Moment | None:
            before_ms, before = now_ms(), self.groups()
            moment = self._ask(name, before_ms)
            return moment if self.groups() == before else None

        return wait_until(noted, f"all groups rest at {name}")

    def _ask(self, name: str, before_ms: int) -> Moment:
        listed = {tool: self.tool(main, "--list", *_columns(tool)) for tool, main in self.asked.items()}
        described: dict[str, dict[str, str]] = {tool: {} for tool in self.asked}
        for (tool, main), mode in product(self.asked.items(), MODES):
            described[tool][mode] = self.tool(main, "--describe", "--all-groups", mode, "--verbose")
        return Moment(
            name=name,
            before_ms=before_ms,
            listed=listed,
            described=described,
            kohort_list=self.ask_kohort("list"),
            kohort_describe=self.ask_kohort("describe", "--all-groups"),
            kohort_dry_run=self.ask_kohort("dry-run", "--all-groups"),
            after_ms=now_ms(),
        )


def _columns(tool: str) -> Sequence[str]:
    """The options of a tool that add columns to its list; only `consumer` has `--type`."""
    return ("--state", "--type") if tool == "consumer" else ("--state",)


def _by_id(document: Document) -> dict[str, Document]:
    return {group["group"]: group for group in document["groups"]}


def now_ms() -> int:
    return time.time_ns() // 1_000_000
