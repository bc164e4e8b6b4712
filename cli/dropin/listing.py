"""Not yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.dropin.options import Options

if TYPE_CHECKING:
    from cli.cluster.live import LiveSource


def run(options: Options, source: LiveSource) -> int:
    """Not yet."""
    raise NotImplementedError
