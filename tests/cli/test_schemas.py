"""Every document fits the schema of its command, whatever the source, as JSON and as YAML."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.cli.command import Kohort, command_names
from tests.cli.schemas import OF_FILES, SHARED, faults, load, schema_names, schema_of

WITHOUT_DOCUMENT = {
    "snapshot", "demo", "exporter", "record", "mcp", "serve", "offsets-export", "completion", "top", "lag",
    "context-add", "context-rename", "context-use",
    *(schema_of(name) for name in command_names() if name.startswith("fault ") and name != "fault list"),
}  # fmt: skip
"""They write files, a line on what was done, screens, or the document of `kohort list`."""

QUESTIONS = (
    "list", "list --lag", "lag audit no-such-group", "list --type share", "list --match no-such-group",
    "describe no-such-group",
    *(f"describe --match . {mode}" for mode in ("--offsets", "--members --verbose", "--state", "--migration")),
    "validate-regex .* ^a '(' a** nothing-matches",
    *(f"dry-run --match GROUPS{what_if}" for what_if in ("", " --add 2", " --compare")),
)  # fmt: skip
"""GROUPS stands for groups that a dry run takes."""


def _check(kohort: Kohort, question: str, *source: str | Path) -> dict[str, Any]:
    answer = kohort.quick(question, *source, "--output", "json")
    assert not answer.traceback, answer.stderr
    document = answer.document
    as_yaml = kohort.quick(question, *source, "--output", "yaml")
    assert (as_yaml.status, as_yaml.stderr) == (answer.status, answer.stderr)
    assert yaml.safe_load(as_yaml.stdout) == document
    return document


@pytest.mark.parametrize("question", QUESTIONS)
def test_documents_of_the_sample(kohort: Kohort, sample: Path, question: str) -> None:
    line = question.replace("GROUPS", "^(billing|checkout|clickstream|warehouse|fraud)$")
    _check(kohort, line, "--embedded", sample)


@pytest.mark.parametrize("to", ["cooperative", "consumer"])
def test_plans_of_the_sample(kohort: Kohort, sample: Path, to: str) -> None:
    groups = [row["group"] for row in _check(kohort, "list --embedded", sample)["groups"]]
    plans = [_check(kohort, f"plan {group} --to {to} --embedded", sample) for group in groups]
    # Both a plan with steps and one without were looked at.
    assert {bool(plan["steps"]) for plan in plans} == {True, False}


def test_a_snapshot_of_which_little_is_known(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "little.yaml"
    file.write_text(
        "kohort: 1\ngroups: {a: {members: [{id: m}]}, b: {type: share}, c: {type: streams}, d: {}}\n"
    )
    described = (f"describe --all-groups{mode}" for mode in ("", " --state", " --members"))
    for question in ("list", *described, *(f"plan {group} --to consumer" for group in "abcd")):
        _check(kohort, question, "--snapshot", file)


def test_every_command_with_a_document_has_a_schema() -> None:
    assert set(schema_names()) == {schema_of(name) for name in command_names()} - WITHOUT_DOCUMENT


@pytest.mark.parametrize("name", [*schema_names(), *OF_FILES, SHARED])
def test_a_schema_is_one_and_forbids_what_it_does_not_name(name: str) -> None:
    schema = load(name)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)
    for mapping in _objects(schema):
        # Either the fields are named and there are no others, or the keys are names of topics or members.
        others = mapping.get("unevaluatedProperties", mapping.get("additionalProperties"))
        assert (others is False) == ("properties" in mapping), mapping


def _objects(schema: object) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from _objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _objects(value)


CHANGES = {
    "$.kohort": {"kohort": 2}, "$": {"extra": 1}, "$.groups": {"groups": None},
    "$.groups[0]": {"groups": [{"group": "a"}]}, "$.errors[0]": {"errors": [{"subject": "a"}]},
}  # fmt: skip


@pytest.mark.parametrize(("path", "change"), CHANGES.items(), ids=CHANGES)
def test_a_schema_finds_faults(kohort: Kohort, sample: Path, path: str, change: dict[str, Any]) -> None:
    document = kohort.quick("list --embedded", sample, "--output", "json").document
    assert {fault.partition(": ")[0] for fault in faults({**document, **change})} == {path}
