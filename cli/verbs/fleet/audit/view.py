"""The document of `kohort fleet audit`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from cli.render.document import Block, Document, Heading, Table, Text, columns
from groups.model import Problem

if TYPE_CHECKING:
    from pipeline.audit import RankedGroup
    from pipeline.history import Quarantined

Row = Mapping[str, Any]
"""A row of one of the audit's tables."""
FIRST_SHOWN = 20
QUARANTINE_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What an audit found, as far as it was asked for. Mappings are by destination."""

    groups: int
    verdicts: Mapping[str, Mapping[str, int]]
    blocked_by: Mapping[str, Mapping[str, int]]
    first: Mapping[str, Sequence[RankedGroup]]
    regexes_lost: int
    rows: Sequence[Row]
    """In the schema AUDIT; none where only sums were asked for."""
    regexes: Sequence[Row]
    """In the schema AUDIT_REGEXES."""
    quarantined: Sequence[Quarantined]
    quarantined_total: int
    tables: Mapping[str, str]
    """Paths by name; empty where they were not kept."""
    shows_groups: bool = False
    """To people; programs get all there are."""
    problems: tuple[Problem, ...] = ()


def fleet_audit_document(audit: Audit) -> Document:
    """Sums by destination; of groups that were named, what was found."""
    return Document(
        command="fleet audit",
        data=_data(audit),
        blocks=list(_named(audit) if audit.shows_groups else _sums(audit)),
        errors=audit.problems,
        remarks=tuple(_remarks(audit)),
    )


def _data(audit: Audit) -> dict[str, Any]:
    return {
        "audited": audit.groups,
        "destinations": [
            {
                "destination": destination,
                "verdicts": dict(verdicts),
                "blocked_by": [
                    {"rule": rule, "groups": count}
                    for rule, count in audit.blocked_by.get(destination, {}).items()
                ],
                "first": [asdict(group) for group in audit.first.get(destination, ())],
            }
            for destination, verdicts in audit.verdicts.items()
        ],
        "regexes_lost": audit.regexes_lost,
        "groups": [dict(row) for row in audit.rows],
        "regexes": [dict(row) for row in audit.regexes],
        "quarantined": [asdict(each) for each in audit.quarantined],
        "quarantined_total": audit.quarantined_total,
        "tables": dict(audit.tables),
    }


def _sums(audit: Audit) -> Iterator[Block]:
    outcomes = ("ready", "warnings", "blocked", "arrived")
    yield Table(
        columns=columns("TO", "##GROUPS", *(f"##{outcome.upper()}" for outcome in outcomes)),
        rows=[
            (destination, sum(verdicts.values()), *(verdicts.get(outcome, 0) for outcome in outcomes))
            for destination, verdicts in audit.verdicts.items()
        ],
    )
    for destination in audit.verdicts:
        reasons = list(audit.blocked_by.get(destination, {}).items())
        first = audit.first.get(destination, ())[:FIRST_SHOWN]
        if reasons:
            yield Heading(f"What blocks the way to {destination}")
            yield Table(columns=columns("RULE", "##GROUPS"), rows=reasons)
        if first:
            yield Heading(f"Which to migrate to {destination} first")
            yield _first(first)
    if audit.regexes_lost:
        yield Text(
            f"{audit.regexes_lost} regexes match less, or nothing, once the broker judges them: "
            "the table audit_regexes says which."
        )
    if audit.quarantined:
        yield Heading("Not read")
        yield Table(
            columns=columns("FILE", "NOT-READ"),
            rows=[(each.file, each.reason) for each in audit.quarantined[:QUARANTINE_SHOWN]],
        )


def _first(groups: Sequence[RankedGroup]) -> Table:
    return Table(
        columns=columns(
            "#RANK", "GROUP", "SOURCE", "VERDICT", "##MEMBERS", "##PARTITIONS", "#GAIN-S", "#RISK", "WAY"
        ),
        rows=[
            (
                each.rank,
                each.group,
                each.source,
                each.verdict,
                each.members,
                each.partitions,
                each.gain_s,
                each.risk,
                each.path,
            )
            for each in groups
        ],
    )


def _named(audit: Audit) -> Iterator[Block]:
    yield Table(
        columns=columns("GROUP", "SOURCE", "TO", "VERDICT", "#RANK", "#GAIN-S", "#RISK", "##MOVED", "WAY"),
        rows=[
            (
                row["group"],
                row["source"],
                row["destination"],
                "arrived" if row["arrived"] else row["verdict"],
                row["rank"],
                row["gain_s"],
                row["risk"],
                None if row["dry_run"] is None else row["dry_run"]["moved"],
                row["path"],
            )
            for row in audit.rows
        ],
    )
    findings = [
        (row["group"], row["destination"], each["level"], each["rule"], each["message"], each["remedy"])
        for row in audit.rows
        for each in row["findings"]
    ]
    if findings:
        yield Table(columns=columns("GROUP", "TO", "LEVEL", "RULE", "FINDING", "REMEDY"), rows=findings)
    if audit.regexes:
        yield Table(
            columns=columns(
                "GROUP", "PATTERN", "VALID", "LIBRARY", "##BROKER", "##CLIENT", "##JAVA", "REWRITE"
            ),
            rows=[
                (
                    row["group"],
                    row["pattern"],
                    row["valid"],
                    row["library"],
                    row["broker_topics"],
                    row["client_topics"],
                    row["java_topics"],
                    row["rewritten"],
                )
                for row in audit.regexes
            ],
        )


def _remarks(audit: Audit) -> Iterator[str]:
    total = audit.quarantined_total
    if total:
        yield f"{total} file{'' if total == 1 else 's or groups'} could not be read; --output json says which, and why"
