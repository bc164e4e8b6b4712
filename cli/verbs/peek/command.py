"""`kohort peek`."""

from typing import Annotated

import typer

from cli.options import OutputOptions, SourceOptions
from cli.verbs.peek.options import PeekOptions


def peek(
    *,
    group: Annotated[str, typer.Argument(metavar="GROUP", help="The group whose committed offset is used.")],
    place: Annotated[str, typer.Argument(metavar="TOPIC:PARTITION", help="The partition, such as orders:0.")],
    options: PeekOptions,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Show the record at a group's committed offset.

    Reads the record that the group reads next, and more with --records and --back, without joining the group or
    committing. Skips aborted records as consumers with isolation.level=read_committed do, unless --uncommitted is
    given.

    \b
    Examples:
      kohort peek payments orders:0 -b localhost:9092
      kohort peek payments orders:0 --back 2 --records 5 --as hex
      kohort peek payments orders:0 --offset 1204 --raw value.bin
    """
    from cli.verbs.peek.action import show_records

    show_records(group, place, options, source, output)
