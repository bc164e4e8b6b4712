"""`kohort fleet follow`."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from cli.verbs.fleet.options import LiveOptions, SparkOptions


class FollowOutput(Enum):
    """`--output`."""

    TABLE = "table"
    JSON = "json"


def fleet_follow(
    *,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            metavar="DIR",
            help="The tables, as Parquet; those that are there are added to. A local path, s3a://… or hdfs://…",
        ),
    ],
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            metavar="DIR",
            help="Where the stream keeps how far it is; beside --out (DIR-checkpoint) unless told.",
        ),
    ] = None,
    every: Annotated[
        float,
        typer.Option("--every", metavar="SECONDS", min=1, max=86_400, help="From one look to the next."),
    ] = 60.0,
    seconds: Annotated[
        float | None,
        typer.Option("--for", metavar="SECONDS", min=0, max=31_536_000, help="End after so many seconds."),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Read what there is now, then end: for a timer of your own.")
    ] = False,
    output: Annotated[
        FollowOutput,
        typer.Option("--output", help="A line of text for what comes, or a JSON document a line."),
    ] = FollowOutput.TABLE,
    live: LiveOptions,
    spark: SparkOptions,
) -> None:
    """Keep the tables of a history up to date from a live cluster, with Spark's Structured Streaming.

    Ends with Ctrl-C. Started again, even after a crash, it goes on from its checkpoint; nothing is lost or doubled.
    `kohort fleet history --out` shows what the tables say, while nothing follows into them.
    """
    from cli.errors import UsageError
    from cli.output import write_line
    from cli.verbs.fleet.follow.action import FollowRequest, carry_out
    from cli.verbs.fleet.follow.view import followed_document, followed_line
    from cli.verbs.fleet.sources import live_of

    if once and seconds is not None:
        raise UsageError("--once ends when everything is read; --for makes no sense with it")
    request = FollowRequest(
        source=live_of(live), out=out, checkpoint=checkpoint, every_s=None if once else every, seconds=seconds
    )
    as_json = output is FollowOutput.JSON
    carry_out(
        request, spark, lambda seen: write_line(followed_document(seen) if as_json else followed_line(seen))
    )
