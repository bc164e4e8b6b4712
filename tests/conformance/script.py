"""The table: sequences of steps, read from `scripts/*.yaml`. README.md lists the kinds of steps."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
VERBS = frozenset(
    {"send", "answer", "still", "until", "wait", "topics", "grow", "drop", "close", "bytes", "repeat"}
)


class BadScriptError(Exception):
    """The table is invalid; the message names the sequence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One sequence. `says` is the sentence about the broker it stands for, `profile` the settings of the server it is
    played to, `topics` are there before it begins: number of partitions by short name."""

    name: str
    says: str
    profile: str
    topics: Mapping[str, int]
    steps: tuple[Mapping[str, Any], ...]


@cache
def scripts() -> tuple[Script, ...]:
    """Every sequence of the table, by name in ascending order. :raises BadScriptError:"""
    by_name: dict[str, Script] = {}
    for path in sorted((HERE / "scripts").glob("*.yaml")):
        for script in _read(path):
            if script.name in by_name:
                raise BadScriptError(f"{script.name} is there twice")
            by_name[script.name] = script
    return tuple(by_name[name] for name in sorted(by_name))


def load(name: str) -> Any:
    return yaml.load((HERE / name).read_text(), yaml.CSafeLoader)


def _read(path: Path) -> Iterator[Script]:
    document = yaml.load(path.read_text(), yaml.CSafeLoader)
    for name, entry in document["sequences"].items():
        steps = tuple(_flat(entry["steps"]))
        for step in steps:
            if len(VERBS & set(step)) != 1:
                raise BadScriptError(f"{name}: one verb of {sorted(VERBS)} is wanted in {step}")
        yield Script(
            name=f"{path.stem}/{name}",
            says=entry["says"],
            profile=entry.get("profile", document.get("profile", "short")),
            topics=entry.get("topics", document.get("topics", {})),
            steps=steps,
        )


def _flat(steps: list[Any]) -> Iterator[Mapping[str, Any]]:
    """Steps in order; a list among them is a fragment from a YAML anchor."""
    for step in steps:
        if isinstance(step, list):
            yield from _flat(step)
        else:
            yield step
