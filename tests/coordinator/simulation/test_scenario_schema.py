"""docs/schemas/scenario.json and the reader take the same keys, and docs/scenarios.md names all of them."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from coordinator.consumer.library import LIBRARIES, AfterError, MemberSettings
from coordinator.simulation import scenario as model
from coordinator.simulation.scenario_file import VERBS, parse_scenario, shipped_names, shipped_text
from tests.cli.schemas import load
from tests.coordinator.simulation.test_scenario_file import YAML
from tests.docs.pages import DOCS, blocks

SCHEMA = load("scenario")
EVENTS = SCHEMA["$defs"]["event"]["oneOf"]


def _keys(kind: Any) -> set[str]:
    written = (field for field in fields(kind) if "unwritten" not in field.metadata)
    return {str(field.metadata.get("named", field.name)) for field in written}


@pytest.mark.parametrize("name", shipped_names())
def test_a_shipped_scenario_fits_the_schema(name: str) -> None:
    assert list(Draft202012Validator(SCHEMA).iter_errors(yaml.safe_load(shipped_text(name)))) == []


def test_the_schema_takes_every_kind_of_event() -> None:
    assert list(Draft202012Validator(SCHEMA).iter_errors(yaml.safe_load(YAML))) == []


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (model.MemberScript, SCHEMA["$defs"]["member"]),
        (model.ListenerScript, SCHEMA["$defs"]["script"]["anyOf"][1]),
        (model.NetworkFaults, SCHEMA["properties"]["faults"]),
        (model.NetworkPartition, SCHEMA["$defs"]["partition"]),
    ],
)
def test_the_schema_has_the_keys_of_the_reader(kind: Any, schema: dict[str, Any]) -> None:
    assert set(schema["properties"]) == _keys(kind)


def test_the_schema_has_the_verbs_of_the_reader_with_their_keys() -> None:
    for verb, kind in VERBS.items():
        keys = {key for event in EVENTS if verb in event["required"] for key in event["properties"]}
        also = {"with"} if verb == "restart" else set()
        of_servers = {"group", "to"} if verb == "coordinator" else set()
        assert keys | of_servers == _keys(kind) | also, verb
    assert {verb for event in EVENTS for verb in event["required"]} >= set(VERBS)


def test_the_page_names_every_key() -> None:
    page = (DOCS / "scenarios.md").read_text()
    keys = {"events", *SCHEMA["properties"], *SCHEMA["$defs"]["member"]["properties"]}
    keys |= {key for event in EVENTS for key in event["properties"]}
    keys |= set(SCHEMA["properties"]["faults"]["properties"]) | set(
        SCHEMA["$defs"]["partition"]["properties"]
    )
    assert sorted(key for key in keys if f"`{key}`" not in page and f"`{key}:" not in page) == []


def test_the_example_of_the_page_is_read_and_fits_the_schema() -> None:
    (example,) = blocks(DOCS / "scenarios.md", "yaml")
    assert parse_scenario(Path("example.yaml"), example.text).events
    assert list(Draft202012Validator(SCHEMA).iter_errors(yaml.safe_load(example.text))) == []


def test_the_page_names_every_setting_of_a_consumer_and_every_library() -> None:
    page = (DOCS / "scenarios.md").read_text()
    settings = [field.name.replace("_", ".") for field in fields(MemberSettings)]
    assert [name for name in settings if f"`{name}`" not in page] == []
    assert SCHEMA["$defs"]["member"]["properties"]["library"]["enum"] == list(LIBRARIES)
    assert all(name in page for name in LIBRARIES)
    policies = SCHEMA["$defs"]["member"]["properties"]["after_error"]["enum"]
    assert policies == [*(policy.value for policy in AfterError), None]
