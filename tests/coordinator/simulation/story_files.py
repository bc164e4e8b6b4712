"""The stories: scenarios that real consumers play, too, and under which protocols each is played."""

from dataclasses import replace

from coordinator.errors import InvalidSetting
from coordinator.simulation.scenario import EnforceRebalance, MemberScript, Restart, Scenario, Variant
from coordinator.simulation.scenario_file import read_scenario
from coordinator.simulation.variants import check_playable
from tests.coordinator.simulation.recordings import STORIES
from tests.support.weighted_assignor import offered

JAVA, LIBRDKAFKA = "java", "librdkafka"
JAVA_ONLY = {"sticky", "weighted", "weighted-cooperative"}


def story_names() -> list[str]:
    """All of them, by name."""
    return sorted(path.stem for path in STORIES.glob("*.yaml"))


def read_story(name: str) -> Scenario:
    """The scenario of a story."""
    with offered():
        return read_scenario(STORIES / f"{name}.yaml")


def variants_of(scenario: Scenario) -> list[Variant]:
    """A story whose members name no assignors is one for each protocol whose clients accept its subscriptions."""
    if any(script.assignors for script in _scripts(scenario)):
        return [Variant.AS_WRITTEN]
    return [
        variant
        for variant in (Variant.EAGER, Variant.COOPERATIVE, Variant.CONSUMER)
        if _is_playable(scenario, variant)
    ]


def with_library(scenario: Scenario, library: str) -> Scenario:
    """The scenario with all its members of one library."""
    events = tuple(
        replace(event, script=replace(event.script, library=library)) if isinstance(event, Restart) else event
        for event in scenario.events
    )
    members = {name: replace(script, library=library) for name, script in scenario.members.items()}
    return replace(scenario, members=members, events=events)


def can_play(scenario: Scenario, library: str) -> bool:
    """Whether a library knows what it needs.

    librdkafka has no enforceRebalance, neither sticky nor custom assignors, refuses lists that mix eager and
    cooperative ones, and regexes that POSIX does not know.
    """
    if library == JAVA:
        return True
    if not _is_playable(scenario, Variant.AS_WRITTEN):
        return False
    has_calls = not any(isinstance(event, EnforceRebalance) for event in scenario.events)
    assignors = [set(script.assignors) for script in _scripts(scenario)]
    can_assign = not any(
        {"sticky", "weighted", "weighted-cooperative"} & assignor
        or {"cooperative-sticky", "range"} <= assignor
        for assignor in assignors
    )
    return has_calls and can_assign


def _is_playable(scenario: Scenario, variant: Variant) -> bool:
    try:
        check_playable(scenario, variant)
    except InvalidSetting:
        return False
    return True


def _scripts(scenario: Scenario) -> list[MemberScript]:
    restarted = [event.script for event in scenario.events if isinstance(event, Restart)]
    return [*scenario.members.values(), *restarted]
