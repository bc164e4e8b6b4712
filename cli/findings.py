"""Findings of plans and diagnoses as text: what is wrong, and the remedy."""

import re
from collections.abc import Iterator

from cli.render.document import Item, fields
from cli.render.headings import role_of
from cli.render.lines import Role
from groups.counts import counted
from groups.findings import Finding
from groups.times import format_moment

_SENTENCE_END = re.compile(r"(?<=[\w)][.]) ")


def finding_item(finding: Finding, *details: str, source: str = "") -> Item:
    """`WARNING rule: message`, followed by the details, the remedy, and its source if it is given."""
    return Item(
        lead=finding.level.value.upper(),
        text=f"{finding.rule}: {finding.message}",
        details=(*details, f"Remedy: {finding.remedy}", *([f"Source: {source}"] if source else [])),
        role=role_of("LEVEL")(finding.level.value),
    )


def finding_data(finding: Finding) -> dict[str, object]:
    """A finding of a diagnosis, or of the past, in a JSON document."""
    return {
        "rule": finding.rule,
        "level": finding.level.value,
        "member": finding.member,
        "members": list(finding.members),
        "since": since_text(finding),
        "evidence": {name: list(f) if isinstance(f, tuple) else f for name, f in finding.evidence.items()},
        **fields(finding, "message", "remedy", "source"),
    }


def since_text(finding: Finding) -> str | None:
    return None if finding.since_ms is None else format_moment(finding.since_ms)


def first_sentence(text: str) -> str:
    return _SENTENCE_END.split(text, maxsplit=1)[0]


def hidden_notes(count: int) -> Iterator[Item]:
    """A line with the number of notes that are not shown, if there are any."""
    if count:
        shows = "it" if count == 1 else "them"
        yield Item(lead=f"{counted(count, 'note')}, --verbose shows {shows}.", role=Role.FAINT)
