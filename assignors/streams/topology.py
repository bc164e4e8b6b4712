"""A topology, read from the text of `Topology#describe` (InternalTopologyBuilder.TopologyDescription#toString)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEADING = re.compile(r"Sub-topology: (\d{1,9})( for global store \(will not generate tasks\))?")
_SOURCE = re.compile(r"Source: (.+) \(topics: (.*)\)")
_PROCESSOR = re.compile(r"Processor: (.+) \(stores: \[(.*)\]\)")
_SINK = re.compile(r"Sink: (.+) \((?:topic: (.+)|extractor class: .*)\)")
_EDGE = re.compile(r"(-->|<--) .+")
_TOPIC = re.compile(r"[a-zA-Z0-9._-]+")
_BEFORE = re.compile(r"Topologies:(?: |$)")
_NAMED = re.compile(r"Topology: .+:")


class TopologyTextError(ValueError):
    """The text is not that of `Topology#describe`; the message names the line and the reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line, self.reason = line, reason


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedSubtopology:
    """The names are those of the description: internal topics are without the application's prefix."""

    number: int
    sources: frozenset[str] = frozenset()
    patterns: tuple[str, ...] = ()  # Java's regular expressions of sources without names
    sinks: frozenset[str] = frozenset()
    stores: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyText:
    subtopologies: tuple[DescribedSubtopology, ...]  # without global stores, which have no tasks

    @property
    def internal_candidates(self) -> frozenset[str]:
        """Topics that the application both writes and reads: repartition topics, unless they are topics of the user."""
        written = {topic for subtopology in self.subtopologies for topic in subtopology.sinks}
        return frozenset(
            topic for subtopology in self.subtopologies for topic in subtopology.sources & written
        )


@dataclass(slots=True)
class _Part:
    number: int
    line: int
    is_global: bool
    sources: set[str]
    patterns: list[str]
    sinks: set[str]
    stores: set[str]


def parse_topology(text: str) -> TopologyText:
    """Raises TopologyTextError: the text is not that of `Topology#describe`."""
    parts: list[_Part] = []
    for number, line in _lines(text):
        if match := _HEADING.fullmatch(line):
            _open(parts, int(match[1]), number, bool(match[2]))
        elif not parts:
            raise TopologyTextError(number, f"{_short(line)} is before the first 'Sub-topology: 0'")
        elif not _node(parts[-1], number, line) and not _EDGE.fullmatch(line):
            raise TopologyTextError(number, f"{_short(line)} is no source, processor, sink or edge")
    for part in parts:
        if not part.sources and not part.patterns:
            raise TopologyTextError(part.line, f"sub-topology {part.number} has no source")
    if not parts:
        raise TopologyTextError(1, "there is no 'Sub-topology: 0'; expected the text of Topology#describe")
    return TopologyText(
        subtopologies=tuple(
            DescribedSubtopology(
                number=part.number,
                sources=frozenset(part.sources),
                patterns=tuple(part.patterns),
                sinks=frozenset(part.sinks),
                stores=frozenset(part.stores),
            )
            for part in sorted(parts, key=lambda part: part.number)
            if not part.is_global
        )
    )


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that say something, with their numbers; the first heading may follow `Topologies:` in its line."""
    for number, line in enumerate(text.splitlines(), 1):
        content = line.strip()
        if _NAMED.match(content):
            raise TopologyTextError(number, "a named topology is not supported: its tasks have other ids")
        content = _BEFORE.sub("", content, count=1).strip()
        if content:
            yield number, content


def _open(parts: list[_Part], number: int, line: int, is_global: bool) -> None:
    if any(part.number == number for part in parts):
        raise TopologyTextError(line, f"sub-topology {number} occurs twice")
    parts.append(_Part(number, line, is_global, set(), [], set(), set()))


def _node(part: _Part, number: int, line: str) -> bool:
    """Add a node to its sub-topology; whether the line is one."""
    if match := _SOURCE.fullmatch(line):
        if not (match[2].startswith("[") and match[2].endswith("]")):
            part.patterns.append(match[2])
        else:
            part.sources.update(_names(match[2][1:-1], number, "topic"))
    elif match := _PROCESSOR.fullmatch(line):
        part.stores.update(_names(match[2], number, "store"))
    elif match := _SINK.fullmatch(line):
        part.sinks.update(() if match[2] is None else _names(match[2], number, "topic"))
    return match is not None


def _names(text: str, number: int, kind: str) -> list[str]:
    names = [name.strip() for name in text.split(",")] if text.strip() else []
    for name in names:
        if not _TOPIC.fullmatch(name):
            raise TopologyTextError(number, f"{_short(name)} is no name of a {kind}")
    return names


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}…")
