"""`--validate-regex`."""

from __future__ import annotations

from cli.dropin.options import Options


def run(options: Options) -> int:
    """Say whether the regex is one that the brokers take; the status is 1 where it is not."""
    raise NotImplementedError
