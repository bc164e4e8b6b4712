"""`kohort log dump` and `kohort log verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.options import OutputOptions, option
from cli.render.output_format import DumpFormat


def log_dump(
    *,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…", help="Segments (*.log), partitions' directories, or a broker's log directory."
        ),
    ],
    groups: Annotated[list[str] | None, option("--group", "Only this group; repeatable.", "GROUP")] = None,
    key_types: Annotated[
        list[str] | None,
        option("--key-type", "Only these record types: 1 or OffsetCommit, 2 or GroupMetadata, …", "TYPE,…"),
    ] = None,
    start: Annotated[
        str | None,
        option("--from", "Start at this offset or time (2026-03-01T12:00:00Z, -15m).", "OFFSET|TIME"),
    ] = None,
    end: Annotated[
        str | None, option("--to", "End at this offset or time, inclusive.", "OFFSET|TIME")
    ] = None,
    batches: Annotated[bool, option("--batches", "Show batches instead of records.")] = False,
    output: Annotated[DumpFormat, option("--output", "Output format.")] = DumpFormat.TABLE,
) -> None:
    """Print every record of the coordinator's log.

    Prints the records as kafka-dump-log --offsets-decoder does.

    \b
    Examples:
      kohort log dump /var/lib/kafka/data
    """
    import time

    from cli.errors import ExitStatus, UsageError
    from cli.output import notice, write_next
    from cli.verbs.log.chunks import parse_wanted
    from cli.verbs.log.segments import segment_files
    from cli.verbs.log.writers import BATCHES, RECORDS, WRITERS, dump
    from groups.model import Problem

    if batches and (groups or key_types):
        raise UsageError(
            "--group and --key-type choose records, and a batch may contain several kinds: leave --batches out"
        )
    wanted = parse_wanted(groups, key_types, start, end, time.time_ns() // 1_000_000)
    files = segment_files(paths)
    problems: list[Problem] = []
    kind = BATCHES if batches else RECORDS
    write_next(lambda out: problems.extend(dump(files, wanted, WRITERS[output](out, kind), batches=batches)))
    for problem in problems:
        notice(f"{problem.subject}: {problem.message}")
    if problems:
        raise typer.Exit(int(ExitStatus.UNREADABLE))


def log_verify(
    *,
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="DIR…", help="A broker's log directory, or partitions' directories."),
    ],
    output: OutputOptions,
) -> None:
    """Check the coordinator's log for damage.

    Checks every batch, record and index file, and shows the file and byte of each fault. Exit status: 0 no
    faults, 1 faults found.

    \b
    Examples:
      kohort log verify /var/lib/kafka/data
    """
    from cli.errors import ExitStatus
    from cli.output import emit
    from cli.verbs.log.verify import log_verify_document, verify

    partitions, errors = verify(paths)
    wrong = any(checked.problems for checked in partitions)
    emit(log_verify_document(partitions, errors), output, ExitStatus.FALSE if wrong else ExitStatus.DONE)
