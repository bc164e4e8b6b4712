"""What each rule finds, and what it keeps quiet about: every finding here is recorded in findings.txt.

`KOHORT_WRITE_GOLDEN=1 pytest tests/migration/rules/test_rules.py` writes them again; read the difference.
docs/readiness.md lists every rule, and no other.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from groups.findings import Level
from groups.model import Group
from migration.clients import clients_of, parse_clients
from migration.frameworks import FRAMEWORKS, framework_named
from migration.rules.assignors import OnlinePath, data_will_come, members_with_data, online_path
from migration.rules.case import Case, PlanRequest, without_members
from tests.migration.cases import (
    CLASSIC,
    CONSUMER,
    GROUP,
    NEW,
    NEWER,
    blockers,
    member,
    plan,
    the_finding,
)
from tests.migration.rules.about_groups import ABOUT_GROUPS
from tests.migration.rules.about_members import ABOUT_MEMBERS
from tests.migration.rules.groups import STREAMS, WRITERS

ROOT = Path(__file__).parents[3]
GOLDEN = Path(__file__).parent / "findings.txt"
PLANS = {**ABOUT_GROUPS, **ABOUT_MEMBERS}
"""Plans by the rule whose findings are recorded."""


def recorded() -> Iterator[str]:
    for rule, plans in PLANS.items():
        for name, made in plans.items():
            findings = [finding for finding in made.findings if finding.rule == rule]
            yield f"{rule}, {name}:{'' if findings else ' -'}"
            for finding in findings:
                assert finding.source
                yield f"  {finding.level.value} {finding.member or ''}: {finding.message}".replace(" :", ":")
                yield f"    {finding.remedy}"


def test_the_findings_of_every_rule_are_as_recorded() -> None:
    text = "".join(f"{line}\n" for line in recorded())
    if os.environ.get("KOHORT_WRITE_GOLDEN") == "1":
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_every_rule_is_documented() -> None:
    page = (ROOT / "docs" / "readiness.md").read_text(encoding="utf-8")
    table = page[page.index("| rule |") :]
    documented = {
        name for row in table.splitlines() for name in re.findall(r"`([a-z-]+)`", row.split("|")[1])
    }
    sources = "".join(
        file.read_text(encoding="utf-8") for file in (ROOT / "migration" / "rules").glob("*.py")
    )
    names = re.findall(r'case\.(?:blocker|warning|info|finding)(?:\(|, )[^"()]*"([a-z-]+)"', sources)
    assert documented == {*names, *re.findall(r'"(regex-[a-z]+)"', sources)}


def test_a_finding_about_many_members_is_reported_once() -> None:
    members = tuple(member(f"m{number}") for number in range(500))
    made = plan(replace(GROUP, members=members), CONSUMER, "java")
    assert len(made.findings) < 15
    finding = the_finding(made, "client-support")
    assert (finding.member, finding.members) == (None, tuple(f"m{number}" for number in range(500)))
    assert finding.message.endswith(" 500 members: m0, m1, m2 and 497 more.")
    assert (
        without_members(finding) == "java supports the consumer protocol since 4.0; the version is unknown."
    )


@pytest.mark.parametrize(("group", "way"), WRITERS.values(), ids=WRITERS.keys())
def test_the_path_around_user_data(group: Group, way: OnlinePath | None) -> None:
    request = PlanRequest(destination=CONSUMER)
    case = Case(group=group, cluster=NEW, request=request, clients=clients_of(group, parse_clients([])))
    assert online_path(case) is way
    if group is WRITERS["librdkafka-fresh"][0]:
        assert (members_with_data(case), data_will_come(case)) == ((), True)


def test_an_offline_plan_needs_no_policy() -> None:
    made = PLANS["migration-policy"]["offline"]
    assert (blockers(made), made.steps[0].id) == ([], "stop-all")


def test_streams_has_no_findings_about_consumers() -> None:
    rules = {finding.rule for made in PLANS["streams-queries"].values() for finding in made.findings}
    assert rules == {"streams", "streams-queries"}
    assert [finding.rule for finding in plan(STREAMS, CONSUMER).findings] == ["streams"]


def test_a_regex_of_java_neither_blocks_nor_warns() -> None:
    """subscribe(Pattern) is matched in the client under both protocols, so no topic is lost or gained."""
    for made in PLANS["regex-client"].values():
        levels = [finding.level for finding in made.findings if finding.rule.startswith("regex")]
        assert (levels, bool(made.steps)) == ([Level.INFO], True)


def test_a_framework_by_any_spelling_and_no_other() -> None:
    assert framework_named(" Spring-Kafka ") is FRAMEWORKS["spring-kafka"]
    with pytest.raises(ValueError, match="unknown framework 'sping'; known: arroyo, "):
        framework_named("sping")


def test_an_assignor_that_a_library_lacks_is_refused() -> None:
    finding = the_finding(plan(NEWER, CLASSIC, "librdkafka:2.16.0", assignor="sticky"), "assignor-of-library")
    assert (finding.level, finding.members) == (Level.BLOCKER, ("m1", "m2"))
