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
            "How long to observe a cluster (6s, longer during a rebalance), or the last part of a log.",
            "DURATION",
        ),
    ] = None,
    replay: Annotated[
        Path | None, option("--replay", "Diagnose a recording of kohort watch instead.", "FILE")
    ] = None,
    rebalance: Annotated[
        str, option("--rebalance-time", "Report a rebalance as stuck after this long.", "DURATION")
    ] = "15s",
    storm: Annotated[int, option("--storm", "Report a storm at this many rebalances.", "N", min=2)] = 3,
    skew: Annotated[
        float, option("--skew", "Report members with this many times another's partitions.", "TIMES", min=1)
    ] = 2.0,
    commit_interval: Annotated[
        str,
        option(
            "--commit-interval",
            "How often consumers commit; an offset is stalled after three intervals.",
            "DURATION",
        ),
    ] = "5s",
    catch_up: Annotated[
        str, option("--catch-up", "Warn if a group takes longer to catch up.", "DURATION")
    ] = "1h",
    hot: Annotated[
        float,
        option("--hot", "Report partitions with this many times the topic's median lag.", "TIMES", min=1),
    ] = 10.0,
    transaction: Annotated[
        str,
        option("--transaction-time", "Report a transaction that is open this long as an error.", "DURATION"),
    ] = "60s",
    expiry: Annotated[
        str, option("--expires-within", "Warn of offsets that may expire within this time.", "DURATION")
    ] = "24h",
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show notes, and the evidence of all findings.")
    ] = False,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Find problems in groups, and how to fix them.

    Exit status: 0 no errors, 1 errors found, 3 something could not be read.

    \b
    Examples:
      kohort diagnose fraud
      kohort diagnose --all-groups -b localhost:9092 --for 30s
    """
    from cli.errors import UsageError
    from cli.output import emit
    from cli.times import milliseconds
    from cli.verbs.diagnose.action import diagnose_chosen, diagnose_recording, status_of
    from cli.verbs.diagnose.view import diagnosis_document
    from groups.diagnosis.case import Thresholds

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
    if not thresholds.commit_interval_ms:
        raise UsageError(
            "--commit-interval is how often your consumers commit, which is never 0; the default is 5s"
        )
    for_ms = None if look_for is None else milliseconds(look_for, "--for")
    found, problems = (
        diagnose_chosen(source, selection, thresholds, for_ms)
        if replay is None
        else diagnose_recording(replay, selection, source, thresholds)
    )
    document = diagnosis_document(found, problems, verbose=verbose, output=output.output)
    emit(document, output, status_of(found))
