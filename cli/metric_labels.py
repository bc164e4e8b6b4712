"""The labels that the user adds to all metrics: `--label team=payments`."""

import re
from collections.abc import Collection, Iterable

from cli.errors import UsageError

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


def parse_labels(values: Iterable[str], taken: Collection[str]) -> dict[str, str]:
    """Labels by name. UsageError: one is no label of Prometheus, or is among `taken`, those of Kohort's metrics."""
    labels: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not _NAME.fullmatch(name) or name.startswith("__"):
            raise UsageError(
                f"--label {text}: write NAME=VALUE; a name has letters, digits and _, and no __ at its start"
            )
        if name in taken:
            raise UsageError(f"--label {text}: Kohort's metrics have a label {name}; choose another name")
        if not value or not value.isprintable():
            raise UsageError(f"--label {name}=: the value is empty, or has characters that cannot be printed")
        if labels.setdefault(name, value) != value:
            raise UsageError(f"--label {text}: {name} has another value already")
    return labels
