"""The stories: scenarios that real consumers play, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from coordinator.simulation.scenario import (
    ChangeTopic,
    Close,
    Commit,
    EnforceRebalance,
    Event,
    Freeze,
    Kill,
    ListenerScript,
    MemberScript,
    Pause,
    Restart,
    Scenario,
    Start,
    Subscribe,
    Variant,
)

FOLDER = Path(__file__).with_name("stories")


def story_names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def read_story(name: str) -> Scenario:
    fields = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    members = {each: _member(script or {}) for each, script in fields["members"].items()}
    return Scenario(
        name=name,
        description=fields.get("description", ""),
        topics=fields["topics"],
        settings=_texts(fields.get("settings", {})),
        members=members,
        events=tuple(_event(each, members) for each in fields["events"]),
        until_s=float(fields["until"]),
    )


def variants_of(scenario: Scenario) -> list[Variant]:
    """A story whose members name neither a protocol nor assignors is one for each protocol."""
    if any(member.assignors or member.protocol != "classic" for member in scenario.members.values()):
        return [Variant.AS_WRITTEN]
    return [Variant.EAGER, Variant.COOPERATIVE, Variant.CONSUMER]


def with_variant(scenario: Scenario, variant: Variant) -> Scenario:
    if variant is Variant.AS_WRITTEN:
        return scenario
    events = tuple(
        replace(each, script=_for(each.script, variant)) if isinstance(each, Restart) else each
        for each in scenario.events
    )
    members = {name: _for(script, variant) for name, script in scenario.members.items()}
    return replace(scenario, members=members, events=events)


def with_library(scenario: Scenario, library: str) -> Scenario:
    events = tuple(
        replace(each, script=replace(each.script, library=library)) if isinstance(each, Restart) else each
        for each in scenario.events
    )
    members = {name: replace(script, library=library) for name, script in scenario.members.items()}
    return replace(scenario, members=members, events=events)


def _for(script: MemberScript, variant: Variant) -> MemberScript:
    if variant is Variant.CONSUMER:
        classic_only = ("session.timeout.ms", "heartbeat.interval.ms")
        config = {key: value for key, value in script.config.items() if key not in classic_only}
        return replace(script, protocol="consumer", assignors=(), config=config)
    assignor = "range" if variant is Variant.EAGER else "cooperative-sticky"
    return replace(script, protocol="classic", assignors=(assignor,), remote_assignor=None)


def _member(fields: Mapping[str, Any]) -> MemberScript:
    listener = {name: _listener(script) for name, script in fields.get("listener", {}).items()}
    return MemberScript(
        library=fields.get("library", "java"),
        protocol=fields.get("protocol", "classic"),
        assignors=tuple(fields.get("assignors", ())),
        remote_assignor=fields.get("remote_assignor"),
        topics=tuple(fields.get("topics", ())),
        regex=fields.get("regex"),
        instance=fields.get("instance"),
        config=_texts(fields.get("config", {})),
        listener=listener,
    )


def _texts(settings: Mapping[str, object]) -> dict[str, str]:
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in settings.items()
    }


def _listener(script: Any) -> ListenerScript:
    if script == "throws":
        return ListenerScript(throws=True)
    if script == "commits":
        return ListenerScript(commits=True)
    return ListenerScript(
        takes_s=float(script.get("takes", 0)),
        throws=script.get("throws", False),
        commits=script.get("commits", False),
    )


def _event(fields: Mapping[str, Any], members: Mapping[str, MemberScript]) -> Event:
    at = float(fields["at"])
    match fields:
        case {"start": str(member)}:
            return Start(at=at, member=member)
        case {"close": str(member)}:
            return Close(at=at, member=member)
        case {"kill": str(member)}:
            return Kill(at=at, member=member)
        case {"pause": str(member), "for": length}:
            return Pause(at=at, member=member, for_s=float(length))
        case {"freeze": str(member), "for": length}:
            return Freeze(at=at, member=member, for_s=float(length))
        case {"restart": str(member)}:
            changes = _member(fields.get("with", {}))
            script = members[member]
            for key in fields.get("with", {}):
                script = replace(script, **{key: getattr(changes, key)})
            return Restart(
                at=at,
                member=member,
                script=script,
                after_s=float(fields.get("after", 0)),
                kill=bool(fields.get("kill", False)),
            )
        case {"enforce_rebalance": str(member)}:
            return EnforceRebalance(at=at, member=member)
        case {"subscribe": str(member), "topics": topics}:
            return Subscribe(at=at, member=member, topics=tuple(topics))
        case {"commit": str(member)}:
            return Commit(at=at, member=member)
        case {"topic": str(topic)}:
            if fields.get("delete"):
                return ChangeTopic(at=at, topic=topic, partitions=None)
            return ChangeTopic(at=at, topic=topic, partitions=fields.get("partitions", fields.get("create")))
    raise ValueError(f"no event of a story: {fields}")


def can_play(scenario: Scenario) -> bool:
    """Whether its libraries know all that it wants: librdkafka has no enforceRebalance, and refuses lists of assignors
    of both kinds."""
    scripts = [
        *scenario.members.values(),
        *(each.script for each in scenario.events if isinstance(each, Restart)),
    ]
    if all(script.library == "java" for script in scripts):
        return True
    has_calls = not any(isinstance(each, EnforceRebalance) for each in scenario.events)
    return has_calls and not any(
        "sticky" in script.assignors
        or ("cooperative-sticky" in script.assignors and len(script.assignors) > 1)
        for script in scripts
    )
