"""The schemas of docs/schemas, ready to check documents with."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

DIRECTORY = Path(__file__).parents[2] / "docs" / "schemas"
SHARED = "definitions"
OF_FILES = ("access", "faults", "groups-file", "scenario")
"""Schemas of files that commands read."""


def load(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((DIRECTORY / f"{name}.json").read_text(encoding="utf-8"))
    return schema


@cache
def _registry() -> Registry[Any]:
    """All schemas, which refer to each other by the names of their files."""
    resources = [
        (f"{name}.json", Resource.from_contents(load(name))) for name in (*schema_names(), *OF_FILES, SHARED)
    ]
    registry: Registry[Any] = Registry()
    return registry.with_resources(resources).crawl()


def schema_names() -> list[str]:
    return sorted(file.stem for file in DIRECTORY.glob("*.json") if file.stem not in (SHARED, *OF_FILES))


def schema_of(command: str) -> str:
    """The name of the schema of a command, which may have a space in it."""
    return command.replace(" ", "-")


def faults(document: Mapping[str, Any]) -> list[str]:
    """What in a document is not as the schema of its command wants it."""
    validator = Draft202012Validator({"$ref": f"{schema_of(document['command'])}.json"}, registry=_registry())
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]
