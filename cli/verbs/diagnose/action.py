"""Observe groups, diagnose them, and show verdicts, errors in full, shortened warnings, and notes if requested."""

import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cli.clusters import Answer, emit_answer
from cli.errors import ExitStatus, UsageError
from cli.findings import finding_data, finding_item, hidden_notes, since_text
from cli.options import OutputOptions, SelectionOptions, SourceOptions
from cli.output import notice
from cli.render.document import (
    VERBOSE,
    Block,
    Document,
    Heading,
    Item,
    Table,
    Text,
    columns,
    fields,
    table_of,
)
from cli.render.lines import Role
from cli.render.output_format import OutputFormat
from cli.selection import choose_groups, is_live, opened, without_deleted_groups
from cli.sources.source import Source
from cli.times import milliseconds, moment
from cli.verbs.diagnose.observing import (
    FleetObservation,
    each_group,
    observe,
    observe_again,
    observe_log,
    with_evidence,
    with_idle_commits,
    with_leaders,
)
from cli.verbs.diagnose.options import DiagnoseOptions
from cli.verbs.watch.recording import read_recording
from groups.counts import counted, first_names
from groups.diagnosis.case import Thresholds, in_shell
from groups.diagnosis.diagnose import Diagnosis, Health, diagnose
from groups.findings import Evidence, Figure, Finding, Level
from groups.model import Problem
from groups.progress import STILL_INTERVALS
from groups.times import duration_text


def diagnose_groups(
    selection: SelectionOptions, options: DiagnoseOptions, source: SourceOptions, output: OutputOptions
) -> None:
    """Print diagnoses of the selected groups, or of those in a recording; exits with FALSE if there is an error."""
    thresholds = Thresholds(
        rebalance_ms=milliseconds(options.rebalance, "--rebalance-time"),
        storm=options.storm,
        skew=options.skew,
        commit_interval_ms=milliseconds(options.commit_interval, "--commit-interval"),
        catch_up_ms=milliseconds(options.catch_up, "--catch-up"),
        hot=options.hot,
        transaction_ms=milliseconds(options.transaction, "--transaction-time"),
        expiry_ms=milliseconds(options.expiry, "--expires-within"),
    )
    if not thresholds.commit_interval_ms:
        raise UsageError(
            "--commit-interval is how often your consumers commit, which is never 0; the default is 5s"
        )
    for_ms = None if options.look_for is None else milliseconds(options.look_for, "--for")
    if options.replay is not None and source.clusters:
        raise UsageError("--replay cannot be used with another source")

    def answer(of: SourceOptions) -> Answer:
        if options.replay is None:
            diagnoses, problems = diagnose_chosen(of, selection, thresholds, for_ms)
        else:
            diagnoses, problems = diagnose_recording(options.replay, selection, of, thresholds)
        has_error = any(diagnosis.verdict is Health.ERROR for diagnosis in diagnoses)
        document = diagnosis_document(diagnoses, problems, verbose=options.verbose, output=output.output)
        return document, ExitStatus.FALSE if has_error else ExitStatus.DONE

    emit_answer(answer, source, output)


def diagnose_chosen(
    options: SourceOptions, selection: SelectionOptions, thresholds: Thresholds, for_ms: int | None
) -> tuple[list[Diagnosis], tuple[Problem, ...]]:
    """Diagnose the selected groups; also returns problems of reading them."""
    live = is_live(options)
    if for_ms is not None and not (live or options.log_dirs):
        raise UsageError(
            "--for needs a live cluster or a broker's log, as a snapshot shows one moment: leave it out, or use "
            "--bootstrap-server or --log-dir"
        )
    with opened(options) as source:
        names, problems = choose_groups(source, selection)
        if live:
            observations = observe_cluster(source, names, thresholds, for_ms)
        else:
            as_of_ms = None if options.as_of is None else moment(options.as_of, "--as-of")
            last = observe(source, names, in_full=True, is_live=False, at_ms=as_of_ms)
            observations = [with_leaders(source, last)]
    if options.log_dirs and for_ms is not None:
        observations = [*observe_log(options, names, observations[-1].at_ms, for_ms), *observations]
    unread = without_deleted_groups(observations[-1].problems, named=bool(selection.groups))
    judged, newest = _judged(names, observations, thresholds), observations[-1].groups
    seen = {name for observation in observations for name in observation.groups}
    explained = {diagnosis.group for diagnosis in judged} - seen
    unexplained = (problem for problem in (*problems, *unread) if problem.group not in explained)
    diagnoses = [diagnosis for diagnosis in judged if diagnosis.findings or diagnosis.group in newest]
    return diagnoses, tuple(dict.fromkeys(unexplained))


def observe_cluster(
    source: Source, names: Sequence[str], thresholds: Thresholds, for_ms: int | None
) -> list[FleetObservation]:
    """Observe groups of a cluster for a while, and request more about those with a suspected problem."""
    interval_ms = thresholds.commit_interval_ms
    observations = [observe(source, names, in_full=True, is_live=True)]
    begun = time.monotonic()
    if observations[0].groups:
        groups = with_idle_commits(source, observations[0].groups)
        observations[0] = replace(observations[0], groups=groups)
        observations += observe_again(source, names, thresholds, for_ms, begun)
    observations[-1] = with_leaders(source, observations[-1])
    observations = with_evidence(source, observations, interval_ms)
    newest = observations[-1]
    # A group with members may have committed nothing since the first observation, and its last commit is unknown.
    if for_ms is None and any(
        not since and newest.groups[name].members for name, since in newest.waiting_since_ms.items()
    ):
        observations += observe_again(source, names, thresholds, STILL_INTERVALS * interval_ms, begun)
        observations[-1] = with_leaders(source, observations[-1])
        observations = with_evidence(source, observations, interval_ms)
    return observations


def _judged(
    names: Sequence[str], observations: Sequence[FleetObservation], thresholds: Thresholds
) -> list[Diagnosis]:
    """Diagnoses of every group that an observation shows, or whose absence from all of them is explained."""
    seen = {name for observation in observations for name in observation.groups}
    diagnoses = [diagnose(name, shown, thresholds) for name, shown in each_group(observations, names)]
    return [diagnosis for diagnosis in diagnoses if diagnosis.findings or diagnosis.group in seen]


def diagnose_recording(
    file: Path, selection: SelectionOptions, options: SourceOptions, thresholds: Thresholds
) -> tuple[list[Diagnosis], tuple[Problem, ...]]:
    if selection.chooses:
        raise UsageError("--replay takes group ids only, or none for all recorded groups")
    if options.place is None and any(options.sources.values()):
        raise UsageError("--replay cannot be used with another source")
    recording = read_recording(file, tuple(dict.fromkeys(selection.groups or ())))
    for text in recording.notices:
        notice(text)
    observations = [
        FleetObservation(
            groups={name: group for name, group in observation.groups.items() if group is not None},
            **fields(observation, "at_ms", "topics", "problems"),
        )
        for observation in recording.observations
    ]
    names = list(dict.fromkeys(name for observation in recording.observations for name in observation.groups))
    return _judged(names, observations, thresholds), observations[-1].problems


_ROLES = {Health.OK: Role.GOOD, Health.WARNING: Role.WARNING, Health.ERROR: Role.BAD}
IN_FULL = frozenset({OutputFormat.TABLE, OutputFormat.MARKDOWN, OutputFormat.HTML})  # CSV: a row per finding


def diagnosis_document(
    diagnoses: Sequence[Diagnosis], problems: tuple[Problem, ...], *, verbose: bool, output: OutputFormat
) -> Document:
    if output in IN_FULL:
        blocks = list(_blocks(diagnoses, verbose=verbose))
    else:
        names = columns("GROUP", "LEVEL", "RULE", "MEMBER", "SINCE", "FINDING", "EVIDENCE", "REMEDY")
        rows = [
            (
                diagnosis.group,
                one.level.value,
                one.rule,
                ",".join(one.members) or one.member,
                since_text(one),
                one.message,
                _evidence_text(one.evidence),
                one.remedy,
            )
            for diagnosis in diagnoses
            for one in diagnosis.findings
        ]
        blocks = [Table(columns=names, rows=rows)]
    return Document(
        command="diagnose",
        data={"groups": [_data(diagnosis) for diagnosis in diagnoses]},
        blocks=blocks,
        errors=problems,
        more="" if verbose else VERBOSE,
        remarks=tuple(_unchecked_rules(diagnoses)) if verbose and output in IN_FULL else (),
    )


def _data(diagnosis: Diagnosis) -> dict[str, object]:
    return {
        "group": diagnosis.group,
        "verdict": diagnosis.verdict.value,
        "findings": list(map(finding_data, diagnosis.findings)),
        "not_checked": [
            {"why": one.why, "rules": list(one.rules), "least_s": one.least_ms and one.least_ms / 1000}
            for one in diagnosis.not_checked
        ],
    }


def _blocks(diagnoses: Sequence[Diagnosis], *, verbose: bool) -> Iterator[Block]:
    shown = [diagnosis for diagnosis in diagnoses if verbose or diagnosis.verdict is not Health.OK]
    alike = [[diagnosis] for diagnosis in shown] if verbose else _alike(shown)
    sick = [group for group in alike if group[0].verdict is not Health.OK]
    if len(diagnoses) == 1:
        (only,) = diagnoses
        notes = _count(only, Level.NOTE) if only.verdict is Health.OK else 0
        text = f"{_verdict_line(only)}{_scope(diagnoses, notes, verbose=verbose)}."
        yield Text(text, _ROLES[only.verdict])
    else:
        yield _fleet_line(diagnoses, verbose=verbose)
    if sick and len(diagnoses) > 1:
        yield table_of(
            sick,
            ("GROUP", lambda groups: first_names([one.group for one in groups], 1)),
            ("VERDICT", lambda groups: groups[0].verdict.value),
            ("##ERRORS", lambda groups: _count(groups[0], Level.ERROR)),
            ("##WARNINGS", lambda groups: _count(groups[0], Level.WARNING)),
            ("FINDINGS", lambda groups: _rules(groups[0])),
        )
    for diagnosis, *others in alike:
        if diagnosis.findings and len(diagnoses) > 1:
            yield Heading(_verdict_line(diagnosis, *others))
        for finding in diagnosis.findings:
            if finding.level is not Level.NOTE or verbose:
                is_short = finding.level is not Level.ERROR and not verbose
                yield finding_item(finding) if is_short else finding_with_evidence(finding)
        if not verbose:
            yield from hidden_notes(_count(diagnosis, Level.NOTE))


ALONE = 20  # as many groups with the same findings are shown one by one
_FIGURE = re.compile(r"\d[\d.,]*")


def _alike(diagnoses: Sequence[Diagnosis]) -> list[list[Diagnosis]]:
    """The groups, each alone; or together, if there are many with the same findings but for their names and figures."""
    keys = list(map(_sentences, diagnoses))
    counts = Counter(keys)
    alike: dict[object, list[Diagnosis]] = {}
    for one, sentences in zip(diagnoses, keys, strict=True):
        alike.setdefault(sentences if counts[sentences] > ALONE else one.group, []).append(one)
    return list(alike.values())


def _sentences(diagnosis: Diagnosis) -> tuple[str, ...]:
    name = f" {in_shell(diagnosis.group)}"
    texts = (f"{one.level.value} {one.rule}: {one.message} {one.remedy}" for one in diagnosis.findings)
    return tuple(_FIGURE.sub("0", text.replace(name, "")) for text in texts)


def finding_with_evidence(finding: Finding, *details: str, source: str = "") -> Item:
    since = f"since {since_text(finding)} or earlier; " if finding.since_ms is not None else ""
    evidence = f"Evidence: {since}{_evidence_text(finding.evidence)}"
    return finding_item(finding, *details, evidence, source=source)


def _rules(diagnosis: Diagnosis) -> str:
    rules = (finding.rule for finding in diagnosis.findings if finding.level is not Level.NOTE)
    return first_names(list(dict.fromkeys(rules)))


def _verdict_line(diagnosis: Diagnosis, *others: Diagnosis) -> str:
    if diagnosis.verdict is Health.OK:
        return f"{diagnosis.group}: no problems found"
    levels = Counter(finding.level for finding in diagnosis.findings)
    counts = [counted(levels[level], level.value) for level in (Level.ERROR, Level.WARNING) if levels[level]]
    names = first_names([one.group for one in (diagnosis, *others)], what="groups")
    each = " each; shown for the first, for all with --verbose" if others else ""
    return f"{names if others else diagnosis.group}: {' and '.join(counts)}{each}"


def _fleet_line(diagnoses: Sequence[Diagnosis], *, verbose: bool) -> Text:
    verdicts = Counter(diagnosis.verdict for diagnosis in diagnoses)
    healthy = verdicts[Health.OK]
    others = [
        f"{verdicts[verdict]:,} {'has' if verdicts[verdict] == 1 else 'have'} {what}"
        for verdict, what in ((Health.ERROR, "errors"), (Health.WARNING, "only warnings"))
        if verdicts[verdict]
    ]
    rest = f"; no problems found in the other {healthy:,}" if healthy else ""
    text = f"Of {counted(len(diagnoses), 'group')}, {' and '.join(others)}{rest}"
    text = text if others else f"No problems found in {counted(healthy, 'group')}"
    worst = max(verdicts, key=list(_ROLES).index, default=Health.OK)
    return Text(f"{text}{_scope(diagnoses, 0, verbose=verbose)}.", _ROLES[worst])


def _scope(diagnoses: Sequence[Diagnosis], notes: int, *, verbose: bool) -> str:
    """` (1 note, 12 rules not checked: 3 need 30 s, 2 need 1 min of observation; --verbose shows them)`."""
    rules, waits = set[str](), dict[int, set[str]]()
    for unchecked in (unchecked for diagnosis in diagnoses for unchecked in diagnosis.not_checked):
        rules.update(unchecked.rules)
        if unchecked.least_ms is not None:
            waits.setdefault(unchecked.least_ms, set()).update(unchecked.rules)
    by_time = sorted(waits.items())
    needs = [f"{len(names)} need{'s' * (len(names) == 1)} {duration_text(ms)}" for ms, names in by_time]
    longer = f": {', '.join(needs)} of observation" if needs else ""
    parts = [counted(notes, "note")] if notes else []
    parts += [f"{counted(len(rules), 'rule')} not checked{longer}"] if rules else []
    shows = "" if verbose else f"; --verbose shows {'it' if notes + len(rules) == 1 else 'them'}"
    return f" ({', '.join(parts)}{shows})" if parts else ""


_UNITS = {"_ms": " ms", "_s": " s"}


def _evidence_text(evidence: Evidence) -> str:
    """The figures, each with its unit: `state Reconciling; seen for 12.0 s`."""
    return "; ".join(_figure_text(name, figure) for name, figure in evidence.items())


def _figure_text(name: str, figure: Figure | tuple[Figure, ...]) -> str:
    unit = next(
        (suffix for suffix in _UNITS if name.endswith(suffix) and not name.endswith(f"_per{suffix}")), None
    )
    text = ", ".join(map(_text, figure if isinstance(figure, tuple) else (figure,))) or "none"
    return f"{name.removesuffix(unit or '').replace('_', ' ')} {text}{_UNITS[unit] if unit else ''}"


def _text(figure: Figure) -> str:
    if figure is None:
        return "not known"
    return f"{figure:.4g}" if isinstance(figure, float) else str(figure)


def _count(diagnosis: Diagnosis, level: Level) -> int:
    return sum(finding.level is level for finding in diagnosis.findings)


def _unchecked_rules(diagnoses: Sequence[Diagnosis]) -> Iterator[str]:
    missing: dict[str, dict[str, None]] = {}
    for diagnosis in diagnoses:
        for unchecked in diagnosis.not_checked:
            missing.setdefault(unchecked.why, {}).update(dict.fromkeys(unchecked.rules))
    if missing:
        yield "not checked: " + "; ".join(f"{', '.join(rules)} ({why})" for why, rules in missing.items())
