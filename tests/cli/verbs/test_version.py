"""`kohort version`: what is installed, and what is missing for what."""

import importlib.metadata
import tomllib

import pytest

from cli.verbs.version import FOR_DEVELOPERS, parse_requirement
from tests.cli.command import Kohort
from tests.cli.schemas import faults
from tests.docs.pages import ROOT
from wire.extras import install_command

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_plain_version_is_the_one_of_the_project_file(kohort: Kohort) -> None:
    answer = kohort.quick("version").succeeded(stderr="")
    assert answer.stdout == f"kohort {PROJECT['version']}\n"
    document = kohort.quick("version --output json").document
    assert faults(document) == []
    assert (document["version"], document["details"]) == (PROJECT["version"], None)


def test_verbose_names_every_library_and_extra(kohort: Kohort) -> None:
    document = kohort.quick("version --verbose --output json").succeeded(stderr="").document
    assert faults(document) == []
    details = document["details"]
    shown = {library["name"]: library["version"] for library in details["libraries"]}
    names = [parse_requirement(text.replace(" ", ""))[0] for text in PROJECT["dependencies"]]
    assert shown.keys() >= set(names)
    assert shown["rich"] == importlib.metadata.version("rich")
    extras = set(PROJECT["optional-dependencies"]) - set(FOR_DEVELOPERS)
    assert {feature["extra"] for feature in details["features"]} - {None} == extras
    assert "kohort_broker" in kohort.quick("version --verbose").succeeded(stderr="").stdout


def test_what_is_not_installed_is_missing_with_its_remedy(
    kohort: Kohort, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["rich>=13", "no-such-kohort-library>=2; extra == 'spark'", "uvloop>=99; sys_platform != 'win32'"]
    monkeypatch.setattr(importlib.metadata, "requires", lambda _: lines)
    answer = kohort.quick("version --verbose --output json").succeeded(stderr="").document["details"]
    assert [library["version"] for library in answer["libraries"]][1] is None
    (fleet,) = [feature for feature in answer["features"] if feature["extra"] == "spark"]
    assert fleet["missing"] == f"no-such-kohort-library: {install_command('spark')}"


def test_java_that_cannot_be_found_is_named(kohort: Kohort) -> None:
    answer = kohort.quick("version --verbose --output csv", JAVA_HOME="/nowhere").succeeded(stderr="")
    assert "kohort fleet" in answer.stdout
    assert "has no bin/java" in answer.stdout


REQUIREMENTS = {
    "rich>=13.9": ("rich", ">=13.9", None),
    "typer<0.29,>=0.26": ("typer", "<0.29,>=0.26", None),
    'pyspark<5,>=4.0; extra == "spark"': ("pyspark", "<5,>=4.0", "spark"),
    "bare": ("bare", "", None),
    'uvloop>=0.21; sys_platform != "win32"': ("uvloop", ">=0.21", None),
    'a[b]>=1 ; python_version < "3.12" and extra == "x"': ("a", ">=1", "x"),
}


def test_requirements_are_read() -> None:
    assert {text: parse_requirement(text) for text in REQUIREMENTS} == REQUIREMENTS
