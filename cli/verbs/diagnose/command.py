"""`kohort diagnose`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.options import OutputOptions, SelectionOptions, SourceOptions, option


def diagnose(
    *,
    selection: SelectionOptions,
    look_for: Annotated[
        str | None,
        option(
            "--for",
            "Observe a cluster for so long; 6s unless given, and until a rebalance ends. Of a log: its last so many.",
            "DURATION",
        ),
    ] = None,
    replay: Annotated[
        Path | None, option("--replay", "Diagnose a recording of kohort watch instead.", "FILE")
    ] = None,
    rebalance: Annotated[
        str, option("--rebalance-time", "A rebalance that lasts so long is an error.", "DURATION")
    ] = "15s",
    storm: Annotated[
        int, option("--storm", "So many rebalances within the time observed are a storm.", "N", min=2)
    ] = 3,
    skew: Annotated[
        float, option("--skew", "A member with so many times another's partitions is uneven.", "TIMES", min=1)
    ] = 2.0,
    commit_interval: Annotated[
        str,
        option(
            "--commit-interval",
            "How often consumers commit: offsets stall that stand still three times as long.",
            "DURATION",
        ),
    ] = "5s",
    catch_up: Annotated[
        str, option("--catch-up", "Warn of groups that take longer to catch up.", "DURATION")
    ] = "1h",
    hot: Annotated[
        float, option("--hot", "A partition with so many times the others' lag is hot.", "TIMES", min=1)
    ] = 10.0,
    transaction: Annotated[
        str, option("--transaction-time", "A transaction that blocks so long is an error.", "DURATION")
    ] = "60s",
    expiry: Annotated[
        str, option("--expires-within", "Warn of offsets that may expire within so long.", "DURATION")
    ] = "24h",
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show notes and evidence of everything.")
    ] = False,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Find what is wrong with groups, since when, why, and what to do.

    Exits with 0: no error was found; 1: one was; 3: something could not be read.
    """
    from cli.output import emit
    from cli.verbs.diagnose.action import diagnose_chosen, diagnose_recording, milliseconds, status_of
    from cli.verbs.diagnose.view import diagnosis_document
    from groups.diagnosis.observation import Thresholds

    thresholds = Thresholds(
        rebalance_ms=milliseconds(rebalance, "--rebalance-time"),
        storm=storm,
        skew=skew,
        commit_interval_ms=milliseconds(commit_interval, "--commit-interval"),
        catch_up_ms=milliseconds(catch_up, "--catch-up"),
        hot=hot,
        transaction_ms=milliseconds(transaction, "--transaction-time"),
        expiry_ms=milliseconds(expiry, "--expires-within"),
    )
    for_ms = None if look_for is None else milliseconds(look_for, "--for")
    found, problems = (
        diagnose_chosen(source, selection, thresholds, for_ms)
        if replay is None
        else diagnose_recording(replay, selection, source, thresholds)
    )
    document = diagnosis_document(found, problems, verbose=verbose, output=output.output)
    emit(document, output, status_of(found))
