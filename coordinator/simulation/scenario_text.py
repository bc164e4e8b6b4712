"""A scenario as the text of a file, from which the same scenario is read."""

from dataclasses import fields, replace
from typing import Any

from coordinator.simulation.scenario import Event, MemberScript, Restart, Scenario, Start, StreamsScript
from coordinator.simulation.scenario_file import FORMAT_VERSION, TREES
from groups.yaml_files import yaml_lines

_Tree = dict[str, Any]
_DEFAULT_MEMBER = TREES.write(MemberScript, MemberScript())
_DEFAULTS = Scenario(name="")


def scenario_text(scenario: Scenario) -> str:
    """The YAML file. It can be read if each event is valid after the earlier ones (`scenario_file`)."""
    return "".join(yaml_lines(scenario_tree(scenario)))


def scenario_tree(scenario: Scenario) -> _Tree:
    """The content of the file, without defaults."""
    tree: _Tree = {"kohort": FORMAT_VERSION}
    if scenario.description:
        tree["description"] = scenario.description
    tree["topics"] = dict(scenario.topics)
    if scenario.settings:
        tree["settings"] = dict(scenario.settings)
    if scenario.without:
        tree["without"] = list(scenario.without)
    tree["members"] = {name: _member(script) for name, script in scenario.members.items()}
    if scenario.streams is not None:
        processes = {
            process: threads
            for process, members in scenario.streams.processes.items()
            if (threads := tuple(member for member in members if member in scenario.members))
        }
        tree["streams"] = TREES.write(StreamsScript, replace(scenario.streams, processes=processes))
    tree["events"] = _events(scenario)
    if scenario.faults != _DEFAULTS.faults:
        defaults = TREES.write(type(_DEFAULTS.faults), _DEFAULTS.faults)
        written = TREES.write(type(scenario.faults), scenario.faults)
        tree["faults"] = {key: value for key, value in written.items() if value != defaults[key]}
    tree["until"] = scenario.until_s
    for field in ("records_per_s", "metadata_delay_s"):
        if getattr(scenario, field) != getattr(_DEFAULTS, field):
            tree[field] = getattr(scenario, field)
    plain: _Tree = _plain(tree)
    return plain


def _member(script: MemberScript) -> _Tree:
    written: _Tree = TREES.write(MemberScript, script)
    tree = {key: value for key, value in written.items() if value != _DEFAULT_MEMBER.get(key)}
    if script.listener:
        tree["listener"] = {
            method: {
                key: "never" if (key, value) == ("takes", None) else value
                for key, value in entry.items()
                if value not in (False, 0.0) or value is None
            }
            for method, entry in tree["listener"].items()
        }
    return tree


def _events(scenario: Scenario) -> list[_Tree]:
    configured: dict[str, _Tree] = {}
    trees = []
    for event in scenario.events:
        if isinstance(event, Start):
            configured.setdefault(event.member, _member(scenario.members[event.member]))
        if isinstance(event, Restart):
            changed = _member(event.script)
            former = configured.get(event.member) or _member(scenario.members[event.member])
            changes = _changes(former, changed)
            trees.append({**_event(event), **({"with": changes} if changes else {})})
            configured[event.member] = changed
        else:
            trees.append(_event(event))
    return trees


def _changes(former: _Tree, present: _Tree) -> _Tree:
    """The content of `with`; null removes a key. Settings and listeners are changed one by one."""
    changes: _Tree = {key: value for key, value in present.items() if former.get(key) != value}
    changes |= {key: None for key in former if key not in present}
    for key in ("config", "state", "listener"):
        if key in changes:
            before, after = former.get(key, {}), present.get(key, {})
            changes[key] = {name: value for name, value in after.items() if before.get(name) != value}
            changes[key] |= {name: None for name in before if name not in after}
    return changes


def _event(event: Event) -> _Tree:
    written: _Tree = TREES.write(type(event), event)
    defaults = {field.metadata.get("named", field.name): field.default for field in fields(event)}
    return {"at": event.at, **{key: value for key, value in written.items() if defaults[key] != value}}


def _plain(value: object) -> Any:
    """Write integers without their `.0`."""
    match value:
        case dict():
            return {key: _plain(entry) for key, entry in value.items()}
        case list():
            return [_plain(item) for item in value]
        case float() if value.is_integer():
            return int(value)
    return value
