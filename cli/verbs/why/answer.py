"""Read the past of groups, and explain it."""

import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from cli.errors import NoGroupFound, UsageError
from cli.options import SourceOptions
from cli.output import notice
from cli.selection import is_live, source_of, with_close_names
from cli.times import moment
from cli.verbs.why.options import HistoryOptions, HistorySelection, WhyOptions
from cli.verbs.why.reading import end_of_journal, is_file, read_history
from groups.findings import Finding, Level
from groups.history.account import Account, account_of
from groups.history.advice import advice_on
from groups.history.course import Course
from groups.history.moment import Moment, moment_of
from groups.listing import Cause, Problem
from groups.times import format_moment

_DAY_MS = 86_400_000
_BEFORE_MS = 3_600_000  # before the time of --at


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A group's account, with findings, and its state at the requested moment."""

    account: Account
    findings: tuple[Finding, ...]
    moment: Moment | None = None

    @property
    def rank(self) -> tuple[bool, int, str]:
        """A key that sorts groups with errors first, then those that rebalanced most."""
        has_error = any(finding.level is Level.ERROR for finding in self.findings)
        return not has_error, -len(self.account.rebalances), self.account.group


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyAnswer:
    source: str
    since: int  # µs since 1970, as the next
    until: int
    explanations: tuple[Explanation, ...]
    problems: tuple[Problem, ...]

    @property
    def complete_since(self) -> int | None:
        """From when on no group's records are missing; None: unknown."""
        times = [one.account.complete_since for one in self.explanations]
        return None if None in times else max((time for time in times if time is not None), default=None)


def answer_of(
    selection: HistorySelection, options: WhyOptions, files: HistoryOptions, source: SourceOptions
) -> WhyAnswer:
    """Why the selected groups rebalanced. Raises UsageError: the times are no span."""
    now_ms = time.time_ns() // 1_000_000
    at_ms, since_ms = moment(options.at, "--at"), moment(options.since, "--since")
    until_ms = moment(options.until, "--until")
    end_ms = now_ms if until_ms is None else until_ms
    live = is_live(source) and not is_file(files)
    if since_ms is None and files.journal is not None:
        end_ms = min(end_ms, end_of_journal(files.journal) or end_ms)
    if since_ms is None and (live or files.journal is not None):
        since_ms = _default_since(end_ms, at_ms)
    read = read_history(selection, files, source, since_ms or 0)
    for text in read.notices:
        notice(text)
    if not live and read.until is not None:
        if since_ms is not None and since_ms > read.until // 1000:
            notice(f"the last record in {read.source} is of {format_moment(read.until // 1000)}")
        else:
            end_ms = min(end_ms, read.until // 1000 + 1)
    if since_ms is None:
        since_ms = _default_since(end_ms, at_ms)
    if since_ms >= end_ms:
        what = "--until" if until_ms == end_ms else "now"
        raise UsageError(f"--since {format_moment(since_ms)} is not before {what}, {format_moment(end_ms)}")
    if at_ms is not None and not since_ms <= at_ms <= end_ms:
        span = f"{format_moment(since_ms)} to {format_moment(end_ms)}"
        raise UsageError(f"--at {format_moment(at_ms)} is not in the time that was read, {span}")
    problems = tuple(read.problems)
    if not read.courses and not problems:
        matching = "" if selection.match is None else f" matches {selection.match!r}"
        raise NoGroupFound(f"no group in {read.source}{matching}")
    if any(problem.cause is Cause.ABSENT for problem in problems) and not is_file(files):
        with closing(source_of(source)) as groups:
            problems = with_close_names(groups, problems)
    explained = [explain(course, since_ms, end_ms, at_ms) for course in read.courses.values()]
    order = list(selection.groups or ())
    explained.sort(key=lambda one: (order.index(one.account.group),) if order else one.rank)
    return WhyAnswer(
        source=read.source,
        since=since_ms * 1000,
        until=end_ms * 1000,
        explanations=tuple(explained),
        problems=problems,
    )


def _default_since(end_ms: int, at_ms: int | None) -> int:
    return end_ms - _DAY_MS if at_ms is None else min(end_ms - _DAY_MS, at_ms - _BEFORE_MS)


def explain(course: Course, since_ms: int, until_ms: int, at_ms: int | None = None) -> Explanation:
    account = account_of(course, since_ms * 1000, until_ms * 1000)
    whole = account if at_ms is None else account_of(course, 0, until_ms * 1000)
    state = None if at_ms is None else moment_of(whole, at_ms * 1000)
    return Explanation(account=account, findings=advice_on(account), moment=state)


def draw(answer: WhyAnswer, file: Path | None) -> None:
    """Write the picture of `--svg`, if there is one."""
    if file is None:
        return
    from cli.output import write_file
    from cli.render.lanes import draw_file
    from cli.verbs.why.picture import drawing_of

    write_file(file, draw_file(drawing_of([one.account for one in answer.explanations])))
