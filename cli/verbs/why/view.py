"""The answer of `kohort why` as a document: what is missing, the headline, a line per rebalance, and what to do."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from cli.clusters import Answer
from cli.errors import ExitStatus, UsageError
from cli.findings import finding_item
from cli.options import SourceOptions
from cli.render.cells import Cell, duration_cell, partitions_text
from cli.render.document import (
    VERBOSE,
    Block,
    Bullets,
    Details,
    Document,
    Heading,
    Table,
    Text,
    columns,
    table_of,
)
from cli.render.lines import Role
from cli.render.output_format import PAGES, OutputFormat
from cli.verbs.why.answer import Explanation, WhyAnswer, answer_of, draw
from cli.verbs.why.data import answer_data, duration_s, moment_text, partition_of
from cli.verbs.why.options import HistoryOptions, HistorySelection, WhyOptions
from cli.verbs.why.reading import is_file
from groups.counts import counted
from groups.findings import Finding, Level
from groups.history.account import Account, Explained
from groups.history.events import Holding, PastRebalance, Place, Protocol
from groups.history.headline import headline, span_text, unread_range
from groups.history.moment import Awaited, Moment, PastWait
from groups.history.pauses import ReadingPause
from groups.history.processes import MemberChange, TiedBy
from groups.history.stories import reasons
from groups.history.storms import begin_of
from groups.model import by_topic
from groups.times import EPOCH, duration_text

_MOST_SECTIONS = 20  # groups that are explained one by one
_ROLES = {Level.ERROR: Role.BAD, Level.WARNING: Role.WARNING}


def check_clusters(source: SourceOptions, options: WhyOptions, files: HistoryOptions) -> None:
    """UsageError for options that are about one cluster, if there are several."""
    if source.clusters and is_file(files):
        raise UsageError("--journal and --replay are sources themselves; give one source")
    if source.clusters and options.svg:
        raise UsageError("--svg draws groups of one cluster: name one context")


def answer_about(
    source: SourceOptions,
    *,
    selection: HistorySelection,
    options: WhyOptions,
    files: HistoryOptions,
    output: OutputFormat,
) -> Answer:
    answer = answer_of(selection, options, files, source)
    draw(answer, options.svg)
    return why_document(answer, verbose=options.verbose, output=output), ExitStatus.DONE


def why_document(answer: WhyAnswer, *, verbose: bool, output: OutputFormat) -> Document:
    explanations = answer.explanations
    if output is OutputFormat.CSV:
        blocks: list[Block] = [_csv_table(explanations)]
    elif not explanations and answer.problems:
        blocks = []
    elif len(explanations) == 1:
        blocks = list(_section(answer, explanations[0], verbose=verbose, output=output))
    else:
        blocks = list(_sections(answer, verbose=verbose, output=output))
    return Document(
        command="why",
        data=answer_data(answer),
        blocks=blocks,
        errors=answer.problems,
        more="" if verbose else VERBOSE,
    )


def _sections(answer: WhyAnswer, *, verbose: bool, output: OutputFormat) -> Iterator[Block]:
    """A table of the groups that rebalanced, and a section for each of them, or of those with most rebalances."""
    shown = [one for one in answer.explanations if one.account.rebalances or one.moment is not None]
    if output in PAGES:
        yield Heading("Rebalances of groups", level=1)
    quiet = len(answer.explanations) - len(shown)
    yield Text(
        f"{counted(len(shown), 'group')} rebalanced, and {quiet:,} did not, {_span(answer)}.", Role.STRONG
    )
    if not shown:
        return
    yield table_of(
        shown,
        ("GROUP", lambda one: one.account.group),
        ("#REBALANCES", lambda one: len(one.account.rebalances)),
        ("##STORMS", lambda one: len(one.account.storms)),
        ("MOVED", lambda one: sum(explained.rebalance.moved for explained in one.account.rebalances)),
        ("UNREAD-TIME", lambda one: _unread_cell(one.account.pauses)),
        ("FINDINGS", lambda one: ", ".join(dict.fromkeys(finding.rule for finding in one.findings))),
    )
    for explanation in shown[:_MOST_SECTIONS]:
        yield Heading(explanation.account.group)
        yield from _section(answer, explanation, verbose=verbose, output=output, is_only=False)
    if len(shown) > _MOST_SECTIONS:
        yield Text(f"{len(shown) - _MOST_SECTIONS:,} more groups: name them to see theirs.", Role.FAINT)
    yield from _read(answer, is_page=output in PAGES)


def _span(answer: WhyAnswer) -> str:
    return f"{moment_text(answer.since)} to {moment_text(answer.until)}"


def _section(
    answer: WhyAnswer, explanation: Explanation, *, verbose: bool, output: OutputFormat, is_only: bool = True
) -> Iterator[Block]:
    account, is_page = explanation.account, output in PAGES
    if is_page and is_only:
        yield Heading(f"{account.group}: {_title(account)}", level=1)
    yield from _truth(account)
    worst = explanation.findings[0].level if explanation.findings else Level.NOTE
    if explanation.moment is not None:
        yield from moment_blocks(explanation.moment, account)
        yield Text(f"{headline(account)}.")
        if is_only:
            yield from _read(answer, is_page=is_page)
        return
    yield Text(f"{headline(account)}.", _ROLES.get(worst, Role.STRONG))
    if account.rebalances:
        if is_page:
            from cli.verbs.why.picture import picture_of

            yield picture_of(account)
        yield _table(account)
        yield from _remarks(account)
    yield from _advice(explanation.findings, is_page=is_page)
    if verbose:
        yield from _evidence(account)
    elif is_page and account.rebalances:
        yield Details(
            summary="Evidence: each rebalance, and what the records show", blocks=tuple(_evidence(account))
        )
    if is_only:
        yield from _read(answer, is_page=is_page)


def _read(answer: WhyAnswer, *, is_page: bool) -> Iterator[Block]:
    if is_page:
        yield Heading("What was read")
    since = answer.complete_since
    complete = f"complete since {moment_text(since)}"
    if since is None or since <= answer.since:
        complete = "complete" if since is not None else "not known to be complete"
    yield Text(f"Read from {answer.source}: {_span(answer)}; {complete}.", Role.FAINT)


def _title(account: Account) -> str:
    if not account.rebalances:
        return "no rebalances"
    rebalances = [one.rebalance for one in account.rebalances]
    span = span_text(begin_of(rebalances[0]), max(one.end or begin_of(one) for one in rebalances))
    return f"{counted(len(rebalances), 'rebalance')} {span}"


def _truth(account: Account) -> Iterator[Text]:
    """What is missing from the records of the time that was requested."""
    since = account.complete_since
    if since is None:
        yield Text(
            "From when on the records are complete is not known: rebalances may be missing.", Role.WARNING
        )
    elif since > account.since:
        yield Text(
            f"Complete since {moment_text(since)}: earlier records were compacted, deleted or not readable, and some "
            "rebalances and causes before are missing.",
            Role.WARNING,
        )


def _table(account: Account) -> Table:
    """A row per rebalance, or for several that repeat."""
    first, last = (_moment(account.rebalances[index].rebalance) for index in (0, -1))
    form = "%H:%M:%SZ" if first.date() == last.date() else "%Y-%m-%d %H:%M:%SZ"
    rows: list[list[Cell]] = []
    for fold in account.lines:
        explained = [account.rebalances[index] for index in fold.indices]
        pauses = dict.fromkeys(pause for one in explained for pause in one.pauses)
        rows.append(
            [
                f"{_moment(explained[0].rebalance):{form}}",
                _what(explained),
                duration_cell(_added([duration_s(one) for one in explained])),
                _members(explained),
                sum(one.rebalance.moved for one in explained),
                _unread_cell(list(pauses)),
            ]
        )
    names = ("START", "WHAT-HAPPENED", "#DURATION", "##MEMBERS", "#MOVED", "UNREAD-TIME")
    return Table(columns=columns(*names), rows=rows)


def _moment(rebalance: PastRebalance) -> datetime:
    return EPOCH + timedelta(microseconds=begin_of(rebalance))


def _added(durations: Sequence[float | None]) -> float | None:
    known = [duration for duration in durations if duration is not None]
    return sum(known) if known else None


def _what(explained: Sequence[Explained]) -> str:
    text = "; ".join(reasons(explained))
    if len(explained) == 1:
        return text if explained[0].rebalance.end is not None else f"{text}; not complete at the end"
    lasted = (explained[-1].rebalance.end or 0) - begin_of(explained[0].rebalance)
    return f"{text}: {len(explained):,} rebalances within {duration_text(max(lasted, 0) / 1000)}"


def _members(explained: Sequence[Explained]) -> str:
    """`6 → 5`; of several: `5 to 6`, the fewest and the most."""
    rebalances = [one.rebalance for one in explained]
    if len(rebalances) == 1:
        return f"{rebalances[0].members_before:,} → {rebalances[0].members:,}"
    counts = [count for one in rebalances for count in (one.members_before, one.members)]
    return f"{min(counts):,} to {max(counts):,}"


def _unread_cell(pauses: Sequence[ReadingPause]) -> str | None:
    return unread_range(pauses) if pauses else None


def _remarks(account: Account) -> Iterator[Text]:
    """By what the member ids of restarts were tied together, and generations that have no line."""
    tied = {change.tied_by for one in account.rebalances for change in one.changes if change.is_return}
    if tied:
        by = " or ".join(kind.value for kind in TiedBy if kind in tied)
        yield Text(f"Returned: a member with the same {by}.", Role.FAINT)
    ended = [
        one
        for one in account.rebalances
        if one.rebalance.protocol is Protocol.CLASSIC and one.rebalance.skipped
    ]
    if account.complete_since is not None and account.complete_since <= account.since and ended:
        count = counted(sum(one.rebalance.skipped or 0 for one in ended), "more rebalance")
        yield Text(f"{count} ended without an assignment, because the next one began.", Role.FAINT)


def _advice(findings: Sequence[Finding], *, is_page: bool) -> Iterator[Block]:
    if findings and is_page:
        yield Heading("Findings")
    for finding in findings:
        yield finding_item(finding)


def _evidence(account: Account) -> Iterator[Block]:
    """Every rebalance with its record, every departure with its verdict, every pause with its commits."""
    yield table_of(
        account.rebalances,
        ("START", lambda one: moment_text(begin_of(one.rebalance))),
        ("PROTOCOL", lambda one: one.rebalance.protocol.value),
        ("#GROUP-EPOCH", lambda one: one.rebalance.epoch or None),
        ("#PARTITION", lambda one: partition_of(one.rebalance)),
        ("#OFFSET", lambda one: None if partition_of(one.rebalance) is None else one.rebalance.offset),
        ("CAUSE", lambda one: ", ".join(cause.value for cause in one.rebalance.causes)),
        ("ASSIGNOR", lambda one: one.rebalance.assignor),
        ("JOINED", lambda one: ", ".join(one.rebalance.joined)),
        ("LEFT", lambda one: ", ".join(one.rebalance.left)),
        ("#UNOWNED-TIME", lambda one: duration_cell(one.without_owner_us / 1_000_000)),
    )
    departed = [
        (one, change) for one in account.rebalances for change in one.changes if change.cause is not None
    ]
    if departed:
        yield Table(
            columns=columns("START", "MEMBER", "CAUSE", "WHY"), rows=[_departed(*pair) for pair in departed]
        )
    if account.pauses:
        spans: dict[tuple[int, int | None], list[Place]] = {}
        for pause in account.pauses:
            spans.setdefault((pause.since, pause.until), []).append(pause.place)
        rows: list[list[Cell]] = [
            [
                partitions_text(by_topic(places)),
                moment_text(since),
                moment_text(until),
                None if until is None else duration_cell((until - since) / 1_000_000),
            ]
            for (since, until), places in spans.items()
        ]
        names = ("PARTITIONS", "LAST-COMMIT", "NEXT-COMMIT", "#UNREAD-TIME")
        yield Table(columns=columns(*names), rows=rows)


def _departed(explained: Explained, change: MemberChange) -> list[Cell]:
    verdict = change.verdict
    cause = change.cause
    probably = "" if verdict is None or verdict.probably is None else f", probably {verdict.probably.value}"
    return [
        moment_text(begin_of(explained.rebalance)),
        change.record.member,
        f"{cause.value if cause else ''}{probably}",
        verdict.why if verdict else None,
    ]


def _csv_table(explanations: Sequence[Explanation]) -> Table:
    """A row per rebalance, for programs."""
    rows = [
        (explanation.account, explained)
        for explanation in explanations
        for explained in explanation.account.rebalances
    ]
    return table_of(
        rows,
        ("GROUP", lambda row: row[0].group),
        ("#GROUP-EPOCH", lambda row: row[1].rebalance.epoch or None),
        ("START", lambda row: moment_text(begin_of(row[1].rebalance))),
        ("#DURATION", lambda row: duration_cell(duration_s(row[1]))),
        ("CAUSE", lambda row: row[1].rebalance.causes[0].value),
        ("WHAT-HAPPENED", lambda row: "; ".join(reasons([row[1]]))),
        ("PROTOCOL", lambda row: row[1].rebalance.protocol.value),
        ("ASSIGNOR", lambda row: row[1].rebalance.assignor),
        ("##MEMBERS-BEFORE", lambda row: row[1].rebalance.members_before),
        ("##MEMBERS", lambda row: row[1].rebalance.members),
        ("#MOVED", lambda row: row[1].rebalance.moved),
        ("#REVOKED", lambda row: row[1].rebalance.revoked),
        ("#UNOWNED-TIME", lambda row: duration_cell(row[1].without_owner_us / 1_000_000)),
        ("##UNREAD", lambda row: len({pause.place for pause in row[1].pauses})),
        ("JOINED", lambda row: ", ".join(row[1].rebalance.joined)),
        ("LEFT", lambda row: ", ".join(row[1].rebalance.left)),
        ("#STORM", lambda row: row[1].storm),
    )


_EPOCH = {Protocol.CLASSIC: "generation", Protocol.CONSUMER: "epoch"}


def moment_blocks(moment: Moment, account: Account) -> Iterator[Block]:
    """What the group did and waited for, and the owners of its partitions."""
    role = Role.WARNING if moment.in_progress or moment.waits else Role.PLAIN
    yield Text(f"{account.group} at {moment_text(moment.at)}: {state_text(moment)}.", role)
    if moment.waits:
        yield Bullets(tuple(wait_text(wait, moment, account) for wait in moment.waits))
    spans: dict[tuple[str | None, int, int | None], list[Holding]] = {}
    for span in moment.owners:
        spans.setdefault((span.member, span.since, span.until), []).append(span)
    rows: list[list[Cell]] = []
    for (member, since, until), held in spans.items():
        partitions = partitions_text(by_topic([span.place for span in held]))
        rows.append(
            [
                None if member is None else account.name_of(member),
                len(held),
                partitions,
                moment_text(since),
                moment_text(until),
            ]
        )
    yield Table(columns=columns("MEMBER", "##PARTITIONS", "CURRENT-ASSIGNMENT", "SINCE", "UNTIL"), rows=rows)


def state_text(moment: Moment) -> str:
    """Whether it was in a rebalance, and why."""
    if moment.last is None:
        return "no rebalance before is in the records" + ("" if moment.owners else ", and no owner is known")
    rebalance = moment.last.rebalance
    name = f"{_EPOCH[rebalance.protocol]} {rebalance.epoch:,}" if rebalance.epoch else "the last one ended"
    why = "; ".join(reasons([moment.last]))
    begin = begin_of(rebalance)
    if not moment.in_progress:
        since = rebalance.end or begin
        return f"no rebalance was in progress; {name} since {moment_text(since)} ({why})"
    lasted = duration_text(max(moment.at - begin, 0) / 1000)
    ended = (
        "its end is not in the records"
        if rebalance.end is None
        else f"it ended at {moment_text(rebalance.end)}"
    )
    return f"in a rebalance for {lasted}, {name} ({why}); {ended}"


def wait_text(wait: PastWait, moment: Moment, account: Account) -> str:
    who = "its next owner" if wait.member is None else account.name_of(wait.member)
    partitions = partitions_text(by_topic(wait.places))
    after = None if wait.until is None else duration_text(max(wait.until - moment.at, 0) / 1000)
    took = "which is not in the records" if after is None else f"which took another {after}"
    match wait.awaited:
        case Awaited.ASSIGNMENT:
            return f"It waited for the assignment of its leader, {took}."
        case Awaited.REVOCATION:
            return f"It waited for {who} to revoke {partitions}, {took}."
        case Awaited.OWNER:
            return f"{partitions} had no owner: it waited for {who}, {took}."
    silent = duration_text(max(moment.at - wait.since, 0) / 1000)
    return f"{who} owned {partitions} but had not committed for {silent}; it was removed {after} later."
