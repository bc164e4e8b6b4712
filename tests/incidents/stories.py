"""The stories of `stories.yaml`: what is done to a group of real consumers, and what its rebalances are caused by."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from coordinator.simulation.scenario import Scenario
from coordinator.simulation.scenario_checks import CLASSIC_SETTINGS
from coordinator.simulation.scenario_file import scenario_from_tree
from tests.kafka.settings import SESSION_MS

FILE = Path(__file__).with_name("stories.yaml")
CHANCE = "maybe "
Claim = tuple[str, str | None]
"""A cause, and the member that it is about: by its name, which is its client id."""
_DEFAULTS: Mapping[str, Any] = {"topics": {"orders": 4}, "members": {"a": {}, "b": {}}, "records_per_s": 5}
_OF_SCENARIO = ("topics", "until", "records_per_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caused:
    """What rebalances are caused by from a time on, in seconds since the beginning of the story."""

    at_s: float
    claims: frozenset[Claim]
    possible: frozenset[Claim]  # these, and others that chance decides


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """A story of one kind of client. `group`: its name, and of its settings `settings`."""

    group: str
    scenario: Scenario
    truth: Sequence[Caused]
    removals: Sequence[tuple[float, str]]  # when an administrator removes which member
    settings: Mapping[str, str]

    @property
    def session_ms(self) -> int:
        """The session timeout of its members of the consumer protocol."""
        return int(self.settings.get("consumer.session.timeout.ms", SESSION_MS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Stories that share a broker, which is restarted at a time of the first ones."""

    name: str
    incidents: Sequence[Incident]
    at_once: int
    restart_s: float | None


@cache
def read_runs() -> dict[str, Run]:
    """All runs, by name."""
    tree = yaml.load(FILE.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return {
        name: Run(
            name=name,
            incidents=tuple(_incidents(tree, run["stories"])),
            at_once=run["at_once"],
            restart_s=run.get("restart"),
        )
        for name, run in tree["runs"].items()
    }


def _incidents(tree: Mapping[str, Any], stories: Mapping[str, Any]) -> Iterator[Incident]:
    for name, partial in stories.items():
        story = {**_DEFAULTS, **partial}
        clients = story["clients"]
        for client in tree["sets"][clients] if isinstance(clients, str) else clients:
            yield _incident(f"{name}.{client}", story, tree["clients"][client])


def _incident(group: str, story: Mapping[str, Any], client: Mapping[str, Any]) -> Incident:
    config = {**client["config"], **story.get("config", {})}
    if client.get("protocol") == "consumer":
        config = {name: value for name, value in config.items() if name not in CLASSIC_SETTINGS}
    default = {"topics": [next(iter(story["topics"]))], **client, "config": config}
    members = {name: _without_none(default | member) for name, member in story["members"].items()}
    for name, member in story["members"].items():
        if member.get("library") == "librdkafka":
            members[name].pop("remote_assignor", None)
    events = [{key: value for key, value in event.items() if key != "truth"} for event in story["events"]]
    played = [event for event in events if len(event) > 1 and "remove" not in event]
    scenario = {
        "kohort": 1,
        **{key: story[key] for key in _OF_SCENARIO},
        "members": members,
        "events": played,
    }
    return Incident(
        group=group,
        scenario=scenario_from_tree(scenario, name=group),
        truth=[_caused(event["at"], event["truth"]) for event in story["events"] if "truth" in event],
        removals=[(event["at"], event["remove"]) for event in events if "remove" in event],
        settings={key: str(value) for key, value in story.get("group", {}).items()},
    )


def _without_none(tree: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in tree.items() if value is not None}


def _caused(at_s: float, truth: str) -> Caused:
    causes = [cause for cause in truth.split(", ") if cause]
    return Caused(
        at_s=at_s,
        claims=frozenset(_claim(cause) for cause in causes if not cause.startswith(CHANCE)),
        possible=frozenset(_claim(cause.removeprefix(CHANCE)) for cause in causes),
    )


def _claim(text: str) -> Claim:
    cause, _, member = text.partition(" ")
    return cause, member or None
