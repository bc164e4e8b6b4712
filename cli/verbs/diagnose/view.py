"""The document of `kohort diagnose`: verdicts, errors in full, shortened warnings, and notes if requested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from cli.findings import finding_item, hidden_notes
from cli.render.document import VERBOSE, Block, Document, Heading, Text, fields, table_of
from cli.render.lines import Role
from cli.render.output_format import OutputFormat
from groups.counts import counted, first_names
from groups.diagnosis.diagnose import Diagnosis, Health
from groups.findings import Evidence, Figure, Finding, Level
from groups.model import Problem
from groups.times import duration_text, format_moment

_ROLES = {Health.OK: Role.GOOD, Health.WARNING: Role.WARNING, Health.ERROR: Role.BAD}
IN_FULL = frozenset({OutputFormat.TABLE, OutputFormat.MARKDOWN, OutputFormat.HTML})
"""The formats for people; CSV has a row for each finding."""


def diagnosis_document(
    found: Sequence[Diagnosis], problems: tuple[Problem, ...], *, verbose: bool, output: OutputFormat
) -> Document:
    """The document of groups in the given order."""
    blocks = list(_blocks(found, verbose=verbose)) if output in IN_FULL else [_rows(found)]
    return Document(
        command="diagnose",
        data={"groups": [_data(each) for each in found]},
        blocks=blocks,
        errors=problems,
        more="" if verbose else VERBOSE,
        remarks=tuple(_unchecked_rules(found)) if verbose and output in IN_FULL else (),
    )


def _data(found: Diagnosis) -> dict[str, Any]:
    return {
        "group": found.group,
        "verdict": found.verdict.value,
        "findings": [_finding_data(each) for each in found.findings],
        "not_checked": [
            {
                "why": each.why,
                "rules": list(each.rules),
                "least_s": None if each.least_ms is None else each.least_ms / 1000,
            }
            for each in found.not_checked
        ],
    }


def _finding_data(found: Finding) -> dict[str, Any]:
    return {
        **fields(found, "rule"),
        "level": found.level.value,
        **fields(found, "member"),
        "members": list(found.members),
        "since": _since(found),
        "evidence": {
            name: list(each) if isinstance(each, tuple) else each for name, each in found.evidence.items()
        },
        **fields(found, "message", "remedy", "source"),
    }


def _since(found: Finding) -> str | None:
    return None if found.since_ms is None else format_moment(found.since_ms)


def _rows(found: Sequence[Diagnosis]) -> Block:
    return table_of(
        [(each.group, finding) for each in found for finding in each.findings],
        ("GROUP", lambda row: row[0]),
        ("LEVEL", lambda row: row[1].level.value),
        ("RULE", lambda row: row[1].rule),
        ("MEMBER", lambda row: ",".join(row[1].members) or row[1].member),
        ("SINCE", lambda row: _since(row[1])),
        ("FINDING", lambda row: row[1].message),
        ("EVIDENCE", lambda row: _evidence_text(row[1].evidence)),
        ("REMEDY", lambda row: row[1].remedy),
    )


def _blocks(found: Sequence[Diagnosis], *, verbose: bool) -> Iterator[Block]:
    shown = [each for each in found if each.verdict is not Health.OK]
    if len(found) == 1:
        (only,) = found
        notes = _count(only, Level.NOTE) if only.verdict is Health.OK else 0
        text = f"{_verdict_line(only)}{_scope(found, notes, verbose=verbose)}."
        yield Text(text, _ROLES[only.verdict])
    else:
        yield _fleet_line(found, verbose=verbose)
    if shown and len(found) > 1:
        yield table_of(
            shown,
            "GROUP",
            ("VERDICT", lambda each: each.verdict.value),
            ("##ERRORS", lambda each: _count(each, Level.ERROR)),
            ("##WARNINGS", lambda each: _count(each, Level.WARNING)),
            ("FINDINGS", lambda each: first_names(_rules(each))),
        )
    for each in found if verbose else shown:
        if each.findings:
            if len(found) > 1:
                yield Heading(_verdict_line(each))
            yield from _finding_blocks(each, verbose=verbose)


def _rules(found: Diagnosis) -> list[str]:
    """The rules of errors and warnings, the worst first."""
    return list(dict.fromkeys(each.rule for each in found.findings if each.level is not Level.NOTE))


def _verdict_line(found: Diagnosis) -> str:
    if found.verdict is Health.OK:
        return f"{found.group}: no problems found"
    levels = Counter(finding.level for finding in found.findings)
    counts = [counted(levels[level], level.value) for level in (Level.ERROR, Level.WARNING) if levels[level]]
    return f"{found.group}: {' and '.join(counts)}"


def _fleet_line(found: Sequence[Diagnosis], *, verbose: bool) -> Text:
    """The numbers of groups with errors, with only warnings, and without problems."""
    verdicts = Counter(each.verdict for each in found)
    healthy = verdicts[Health.OK]
    others = [
        f"{verdicts[verdict]} {'has' if verdicts[verdict] == 1 else 'have'} {what}"
        for verdict, what in ((Health.ERROR, "errors"), (Health.WARNING, "only warnings"))
        if verdicts[verdict]
    ]
    if not others:
        text = f"No problems found in {counted(healthy, 'group')}"
    else:
        rest = f"; no problems found in the other {healthy}" if healthy else ""
        text = f"Of {counted(len(found), 'group')}, {' and '.join(others)}{rest}"
    worst = max(verdicts, key=list(_ROLES).index, default=Health.OK)
    return Text(f"{text}{_scope(found, 0, verbose=verbose)}.", _ROLES[worst])


def _scope(found: Sequence[Diagnosis], notes: int, *, verbose: bool) -> str:
    """The limits of the verdict: ` (1 note, 12 rules not checked; --verbose shows them)`.

    Also how long a longer observation must be: `12 rules not checked: 3 need 30 s, 2 need 1 min of observation`.
    """
    rules = {rule for each in found for one in each.not_checked for rule in one.rules}
    waits: dict[int, set[str]] = {}
    for one in (one for each in found for one in each.not_checked):
        if one.least_ms is not None:
            waits.setdefault(one.least_ms, set()).update(one.rules)
    needs = [
        f"{len(names)} need{'s' * (len(names) == 1)} {duration_text(ms)}"
        for ms, names in sorted(waits.items())
    ]
    longer = f": {', '.join(needs)} of observation" if needs else ""
    parts = [counted(notes, "note")] if notes else []
    parts += [f"{counted(len(rules), 'rule')} not checked{longer}"] if rules else []
    shows = "" if verbose else f"; --verbose shows {'it' if notes + len(rules) == 1 else 'them'}"
    return f" ({', '.join(parts)}{shows})" if parts else ""


def _finding_blocks(found: Diagnosis, *, verbose: bool) -> Iterator[Block]:
    for finding in found.findings:
        if finding.level is Level.NOTE and not verbose:
            continue
        details = []
        if finding.level is Level.ERROR or verbose:
            since = f"since {_since(finding)} or earlier; " if finding.since_ms is not None else ""
            details.append(f"Evidence: {since}{_evidence_text(finding.evidence)}")
        yield finding_item(finding, *details)
    if not verbose and found.verdict is not Health.OK:
        yield from hidden_notes(_count(found, Level.NOTE))


_UNITS = {"_ms": " ms", "_s": " s"}


def _evidence_text(evidence: Evidence) -> str:
    """The figures, each with its unit: `state Reconciling; seen for 12.0 s`."""
    return "; ".join(_figure_text(name, each) for name, each in evidence.items())


def _figure_text(name: str, figure: Figure | tuple[Figure, ...]) -> str:
    unit = next((each for each in _UNITS if name.endswith(each) and not name.endswith(f"_per{each}")), None)
    text = ", ".join(map(_text, figure if isinstance(figure, tuple) else (figure,))) or "none"
    return f"{name.removesuffix(unit or '').replace('_', ' ')} {text}{_UNITS[unit] if unit else ''}"


def _text(figure: Figure) -> str:
    if figure is None:
        return "not known"
    return f"{figure:.4g}" if isinstance(figure, float) else str(figure)


def _count(found: Diagnosis, level: Level) -> int:
    return sum(finding.level is level for finding in found.findings)


def _unchecked_rules(found: Sequence[Diagnosis]) -> Iterator[str]:
    """The rules that could not be checked, and why."""
    missing: dict[str, dict[str, None]] = {}
    for each in found:
        for one in each.not_checked:
            missing.setdefault(one.why, {}).update(dict.fromkeys(one.rules))
    if missing:
        yield "not checked: " + "; ".join(f"{', '.join(rules)} ({why})" for why, rules in missing.items())
