"""Commands that read several clusters: each context is asked in a separate thread, and their documents become one.
A cluster that fails is a problem of that document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import typer

from cli.errors import ExitStatus, NoGroupFound, UsageError, exit_status, is_expected
from cli.options import OutputOptions, SourceOptions
from cli.output import about, emit, notice
from groups.listing import Cause, Problem

if TYPE_CHECKING:
    from cli.render.document import Document

T = TypeVar("T")
Answer: TypeAlias = "tuple[Document, ExitStatus]"


def emit_answer(
    answer: Callable[[SourceOptions], Answer],
    source: SourceOptions,
    output: OutputOptions,
    finish: Callable[[Document], Document] = lambda document: document,
) -> None:
    """Print what a command answers about its source, or about each of several clusters, and exit; see `emit`. `finish`
    makes what is printed of a document of several clusters."""
    document, status = answer_of_all(answer, source) if source.clusters else answer(source)
    document = finish(document) if source.clusters else document
    emit(document, output, status)


def answer_of_all(answer: Callable[[SourceOptions], Answer], source: SourceOptions) -> Answer:
    """One answer about all clusters, with a problem for each that failed; exits if none can be read. UsageError if
    all refuse the options."""
    from cli.render.merge import merged
    from cli.sources.contexts.resolve import of_cluster

    results = side_by_side(lambda name: answer(of_cluster(source, name)), source.clusters)
    failures = {name: result for name, result in results.items() if isinstance(result, Exception)}
    answers = {name: result for name, result in results.items() if not isinstance(result, Exception)}
    if not answers:
        raise typer.Exit(int(_report_all(failures)))
    document = merged({name: document for name, (document, _) in answers.items()})
    problems = [problem_of(name, error) for name, error in failures.items()]
    remarks, errors = _divided(document, problems)
    status = max(status for _, status in answers.values())
    return replace(document, remarks=document.remarks + remarks, errors=errors), status


def _divided(document: Document, failures: Sequence[Problem]) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Remarks and problems: that a cluster has no selected group, or not one that another has, is no problem."""
    problems = (*document.errors, *failures)
    if all(problem.cause is not Cause.ABSENT for problem in problems):
        return (), problems
    shown = {entry["group"] for entry in document.data.get("groups", ())} | {None}
    absent = [problem for problem in problems if problem.cause is Cause.ABSENT and problem.group in shown]
    remarks = tuple(f"{problem.subject}: {problem.message}" for problem in absent)
    return remarks, tuple(problem for problem in problems if problem not in absent)


def side_by_side(work: Callable[[str], T], names: Iterable[str]) -> dict[str, T | Exception]:
    """What `work` returns for each name, or the error that is meant for users; any other error is raised."""
    results: dict[str, T | Exception] = dict.fromkeys(names, RuntimeError("not complete"))

    def run(name: str) -> None:
        with about(name):
            try:
                results[name] = work(name)
            except Exception as error:
                results[name] = error

    # Ctrl-C must not wait for a cluster that does not answer, as it does at the end of a ThreadPoolExecutor.
    threads = [Thread(target=run, args=(name,), daemon=True) for name in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results.values():
        if isinstance(result, Exception) and not is_expected(result):
            raise result
    return results


def problem_of(cluster: str, error: Exception) -> Problem:
    cause = Cause.FORBIDDEN if exit_status(error) is ExitStatus.REFUSED else Cause.UNREAD
    cause = Cause.ABSENT if isinstance(error, NoGroupFound) else cause
    return Problem(subject=cluster, message=str(error), cause=cause)


def _report_all(failures: dict[str, Exception]) -> ExitStatus:
    """Print why no cluster could be read; the status. UsageError: all refuse the options."""
    usage = [error for error in failures.values() if isinstance(error, UsageError)]
    if len(usage) == len(failures):
        raise usage[0]
    for name, error in failures.items():
        notice(f"{name}: {error}")
    statuses = {exit_status(error) for error in failures.values()}
    return statuses.pop() if len(statuses) == 1 else ExitStatus.UNREADABLE
