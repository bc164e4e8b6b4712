"""`kohort log dump` and `kohort log verify`."""

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
    output: Annotated[DumpFormat, option("--output -o", "Output format.")] = DumpFormat.TABLE,
) -> None:
    """Print every record of the coordinator's log.

    Prints the records as kafka-dump-log --offsets-decoder does.

    \b
    Examples:
      kohort log dump /var/lib/kafka/data
    """
    from cli.verbs.log.writers import print_records

    print_records(paths, groups, key_types, start, end, output, batches=batches)


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
    from cli.verbs.log.verify import verify_logs

    verify_logs(paths, output)
