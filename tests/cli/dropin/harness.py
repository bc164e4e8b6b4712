"""One command line, both tools, the same broker and the same state: what they say must be the same. A `Case` is a
command line with placeholders (`{simple}`), the scene that fills them in, and the names of the accepted differences
that show in it: each makes of the real tool's answer the one that ours is to give, and one that changes nothing does
not belong to the case. docs/kafka-consumer-groups.md explains them."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from types import ModuleType

from cli.dropin import groups, main, parse, share_groups, streams_groups, streams_reset
from cli.dropin.flags import Value, flags_in
from cli.dropin.parse import OF_THE_DOCUMENT, Options
from cli.dropin.printing import usage
from tests.cli import command
from tests.cli.command import Answer
from tests.kafka.broker import Broker, RunningBroker
from tests.kafka.tool_host import (
    CONSUMER_GROUPS,
    GROUPS,
    SHARE_GROUPS,
    STREAMS_GROUPS,
    STREAMS_RESET,
    ToolHost,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A tool and its stand-in."""

    theirs: str  # The class with the tool's `main`
    ours: Callable[[], None]
    parse: Callable[[Sequence[str]], Options]
    flags: Mapping[str, Value]
    usage: str | None = None
    fails: str  # What precedes the reason of a failed command


def _pair(stand_in: ModuleType, theirs: str, fails: str) -> Pair:
    tool = stand_in.TOOL
    flags = flags_in(tool.usage)
    return Pair(
        theirs=theirs, ours=stand_in.main, parse=tool.parse, flags=flags, usage=tool.usage, fails=fails
    )


_FAILED = "\nError: Executing {} command failed due to "
PAIRS = {
    "consumer-groups": Pair(
        theirs=CONSUMER_GROUPS, ours=main.main, parse=parse.parse, flags=parse.FLAGS,
        fails=_FAILED.format("consumer group"),
    ),
    "groups": _pair(groups, GROUPS, "Error while executing groups command : "),
    "share-groups": _pair(share_groups, SHARE_GROUPS, _FAILED.format("share group")),
    "streams-groups": _pair(streams_groups, STREAMS_GROUPS, _FAILED.format("streams group")),
    "streams-application-reset": _pair(streams_reset, STREAMS_RESET, "ERROR: "),
}  # fmt: skip
"""By the name of the program without `kohort-`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    names: Mapping[str, str]
    broker: Broker | None = None  # Where it is, if not on the broker that all tests share


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A command line of a program of `PAIRS`. `--bootstrap-server` is put before it where `connects`."""

    line: str
    program: str = "consumer-groups"
    scene: str = "fleet"
    differs: tuple[str, ...] = ()  # Accepted differences, in the order in which they are applied
    status: int | None = None  # Our exit status, where `exit-status` is one of the differences
    more: str = ""  # What ours says beyond the tool, or instead, where the difference is one of words
    connects: bool = True

    @property
    def pair(self) -> Pair:
        return PAIRS[self.program]

    def __str__(self) -> str:
        return self.line[:120] or "(no arguments)"

    def arguments(self, names: Mapping[str, str], broker: RunningBroker) -> list[str]:
        # Braces are filled in after the line is split: a name is one argument whatever is in it.
        words = [filled(word, {**names, "server": broker.bootstrap}) for word in shlex.split(self.line)]
        return ["--bootstrap-server", broker.bootstrap, *words] if self.connects else words


def filled(word: str, names: Mapping[str, str]) -> str:
    for name, value in names.items():
        word = word.replace("{" + name + "}", value)
    return word


Difference = Callable[[Answer, Case], Answer]


def _stack_trace(theirs: Answer, case: Case) -> Answer:
    """Without the traces, each of which starts with an exception and continues with indented lines."""
    lines = theirs.stderr.split("\n")
    first = next((number for number, line in enumerate(lines) if _TRACED.match(line)), len(lines))
    kept = [line for line in lines[first:] if not (_TRACED.match(line) or _TRACE.match(line))]
    return replace(theirs, stderr="\n".join(lines[:first] + kept))


_TRACED = re.compile(r"(Exception in thread .*|Caused by: .*|[a-z]\w*(\.\w+)+(Exception|Error)\b.*)")
_TRACE = re.compile(r"( at \[Source: |\t(at |\.\.\. \d+ more|Suppressed: ))")


def _parser_trace(theirs: Answer, case: Case) -> Answer:
    """The message of the exception, and the usage instead of the trace."""
    message = theirs.stderr.partition("\n")[0]
    message = re.sub(r"^joptsimple\.\w+: ", "", message)
    return replace(theirs, stderr=_in_order(f"{message}\n{usage(case.pair.usage)}\n"))


def _control_characters(theirs: Answer, case: Case) -> Answer:
    """Escaped; in a table the blanks behind a short name are fewer then."""

    def escaped(text: str) -> str:
        return re.sub(r"\x1b(\S*)( {3})?", r"\\x1b\1", text)

    return replace(theirs, stdout=escaped(theirs.stdout), stderr=escaped(theirs.stderr))


def _sorted_rows(theirs: Answer, case: Case) -> Answer:
    """The rows below each heading, sorted; without a heading (`--list`) all lines."""
    blocks = theirs.stdout.split("\n\n")
    return replace(theirs, stdout="\n\n".join(map(_sorted_block, blocks)))


def _sorted_block(block: str) -> str:
    heading = re.match(r"\n?(GROUP|TOPIC)\s.*\n", block)
    start = heading.end() if heading else 0
    rows = block[start:].split("\n")
    end = "\n" if rows[-1] == "" else ""
    return block[:start] + "\n".join(sorted(row for row in rows if row)) + end


def _own_words(theirs: Answer, case: Case) -> Answer:
    """The message alone, where the tool has it: in a trace, or as its last output."""
    if case.pair.fails in theirs.stderr:
        return replace(theirs, stderr=f"{case.pair.fails}{case.more}\n")
    return replace(theirs, stdout=f"{case.pair.fails}{case.more}\n")


def _document_regex(theirs: Answer, case: Case) -> Answer:
    """What the KIP has and the tool refuses; and a line in the usage."""
    if case.status is None:
        return replace(theirs, stderr=f"{theirs.stderr}{OF_THE_DOCUMENT}\n")
    return Answer(status=case.status, stdout=f"{case.more}\n", stderr="")


DIFFERENCES: dict[str, Difference] = {
    "exit-status": lambda theirs, case: replace(theirs, status=case.status),  # type: ignore[arg-type]
    "stack-trace": _stack_trace,
    "parser-trace": _parser_trace,
    "reason": lambda theirs, case: replace(theirs, stderr=f"{case.more}\n"),
    "own-words": _own_words,
    "properties": lambda theirs, case: replace(theirs, stderr="", stdout=f"{case.pair.fails}{case.more}\n"),
    "partial-answer": lambda theirs, case: replace(theirs, stdout=case.more),
    "control-characters": _control_characters,
    "version": lambda theirs, _: replace(
        theirs, stdout=f"{theirs.stdout.rstrip()} (kohort {version('kohort')})\n"
    ),
    "regex-reason": lambda theirs, case: replace(theirs, stdout=f"{case.more}\n"),
    "regex-preview": lambda theirs, case: replace(theirs, stdout=f"{theirs.stdout}{case.more}\n"),
    "regex-warning": lambda theirs, case: replace(theirs, stderr=f"{theirs.stderr}\nWarning: {case.more}\n"),
    "document-regex": _document_regex,
    "sorted-rows": _sorted_rows,
}
"""By name as in the table of docs/kafka-consumer-groups.md."""


@dataclass(frozen=True, slots=True)
class Stage:
    broker: Broker
    tools: ToolHost

    def check(self, case: Case, scene: Scene) -> None:
        """Run both tools on the scene; AssertionError where they differ in another way than the case says."""
        arguments = case.arguments(scene.names, scene.broker or self.broker)
        case = replace(case, more=filled(case.more, scene.names))
        theirs = run_tool(self.tools, arguments, case.pair)
        ours = normalized(run_here(arguments, case.pair))
        for name in case.differs:
            changed = DIFFERENCES[name](theirs, case)
            assert changed != theirs, f"{case}: there is no difference {name}"
            theirs = changed
        if "--reset-offsets" in arguments or case.scene == "modern":
            ours, theirs = unordered(ours), unordered(theirs)
        assert ours == theirs, f"{shlex.join(arguments)}\nexpected: {theirs}\nours:     {ours}"


def run_here(arguments: Sequence[str], pair: Pair = PAIRS["consumer-groups"]) -> Answer:
    return command.run_here(pair.ours, "kohort", arguments)


def run_tool(tools: ToolHost, arguments: Sequence[str], pair: Pair = PAIRS["consumer-groups"]) -> Answer:
    """Run the tool, without what differs from one of its runs to the next."""
    done = tools.run(pair.theirs, *arguments)
    return normalized(Answer(status=done.returncode, stdout=done.stdout, stderr=done.stderr))


_SETS = re.compile(r"((?:these|following) options: |(?:states|types) are: |scenarios: )(.*)")
"""Lists that the tool makes of Java's sets, whose order is another one in every JVM."""
_WARNING = re.compile(
    r"^(?:\[main\] WARN \S+ - (.*)|\[[\d-]{10} [\d:]{8},\d{3}\] WARN (.*) \(\S+\))$", re.MULTILINE
)
"""A line of the tool's log, which the jars alone print another way than a Kafka distribution, and than ours."""


def normalized(answer: Answer) -> Answer:
    stderr = _WARNING.sub(r"WARN \1\2", _in_order(answer.stderr))
    return replace(answer, stdout=_in_order(answer.stdout), stderr=stderr)


def _in_order(text: str) -> str:
    def sort(match: re.Match[str]) -> str:
        return match.group(1) + ", ".join(
            sorted(match.group(2).replace("[", "").replace("]", "").split(", "))
        )

    return _SETS.sub(sort, text)


def unordered(answer: Answer) -> Answer:
    """Without the order that the tool takes from Java's hash maps: of rows, of warnings, and of lists in messages."""
    blocks = [_sorted_block(block) for block in _LISTS.sub(_sorted_list, answer.stdout).split("\n\n")]
    warnings = sorted(block.strip() for block in blocks if _FALLBACK.match(block))
    rest = [block for block in blocks if not _FALLBACK.match(block)]
    return replace(
        answer, stdout="\n\n".join([*warnings, *rest]), stderr="\n".join(sorted(answer.stderr.split("\n")))
    )


_FALLBACK = re.compile(r"\n?Warn: Partition ")
_LISTS = re.compile(
    r"(?<=requested consumer groups \()[^)\n]+(?=\))|(?<=were deleted successfully: ).+"
    r"|(?<=The partitions \")[^\"]+(?=\")|(?<=following partitions: \[)[^]]+(?=\])"
)


def _sorted_list(match: re.Match[str]) -> str:
    return ", ".join(sorted(re.split(", ?", match.group())))
