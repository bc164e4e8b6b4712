"""The options of `kohort diagnose`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cli.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnoseOptions:
    look_for: Annotated[
        str | None,
        option(
            "--for",
            "How long to observe a cluster (6s, longer during a rebalance), or the last part of a log.",
            "DURATION",
        ),
    ] = None
    replay: Annotated[
        Path | None, option("--replay", "Diagnose a recording of kohort watch instead.", "FILE")
    ] = None
    rebalance: Annotated[
        str, option("--rebalance-time", "Report a rebalance as stuck after this long.", "DURATION")
    ] = "15s"
    storm: Annotated[int, option("--storm", "Report a storm at this many rebalances.", "N", min=2)] = 3
    skew: Annotated[
        float, option("--skew", "Report members with this many times another's partitions.", "TIMES", min=1)
    ] = 2.0
    commit_interval: Annotated[
        str,
        option(
            "--commit-interval",
            "How often consumers commit; an offset is stalled after three intervals.",
            "DURATION",
        ),
    ] = "5s"
    catch_up: Annotated[
        str, option("--catch-up", "Warn if a group takes longer to catch up.", "DURATION")
    ] = "1h"
    hot: Annotated[
        float,
        option("--hot", "Report partitions with this many times the topic's median lag.", "TIMES", min=1),
    ] = 10.0
    transaction: Annotated[
        str,
        option("--transaction-time", "Report a transaction that is open this long as an error.", "DURATION"),
    ] = "60s"
    expiry: Annotated[
        str, option("--expires-within", "Warn of offsets that may expire within this time.", "DURATION")
    ] = "24h"
    verbose: Annotated[bool, option("--verbose", "Show notes, and the evidence of all findings.")] = False
