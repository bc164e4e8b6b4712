"""The options of `kohort diagnose`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cli.options import option

_FOR = "How long to observe a cluster (6s, longer during a rebalance), or the last part of a log."
_INTERVAL = "How often consumers commit; an offset is stalled after three intervals."


def _duration(name: str, help_text: str) -> Any:
    return option(name, help_text, "DURATION")


def _times(name: str, help_text: str) -> Any:
    return option(name, help_text, "TIMES", min=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnoseOptions:
    look_for: Annotated[str | None, _duration("--for", _FOR)] = None
    replay: Annotated[
        Path | None, option("--replay", "Diagnose a recording of kohort watch instead.", "FILE")
    ] = None
    rebalance: Annotated[
        str, _duration("--rebalance-time", "Report a rebalance as stuck after this long.")
    ] = "15s"
    storm: Annotated[int, option("--storm", "Report a storm at this many rebalances.", "N", min=2)] = 3
    skew: Annotated[float, _times("--skew", "Report members with this many times another's partitions.")] = (
        2.0
    )
    commit_interval: Annotated[str, _duration("--commit-interval", _INTERVAL)] = "5s"
    catch_up: Annotated[str, _duration("--catch-up", "Warn if a group takes longer to catch up.")] = "1h"
    hot: Annotated[
        float, _times("--hot", "Report partitions with this many times the topic's median lag.")
    ] = 10.0
    transaction: Annotated[
        str, _duration("--transaction-time", "Report a transaction that is open this long as an error.")
    ] = "60s"
    expiry: Annotated[
        str, _duration("--expires-within", "Warn of offsets that may expire within this time.")
    ] = "24h"
    verbose: Annotated[bool, option("--verbose", "Show notes, and the evidence of all findings.")] = False
