"""Groups that subscribe by a regex, to the consumer protocol: the topics stay the same."""

import json
import shlex

import pytest

from tests.kafka.tool_host import ToolHost
from tests.migration.end_to_end.application import Subscription
from tests.migration.end_to_end.conftest import Deploy, Follow
from tests.migration.end_to_end.deployment import Deployment
from tests.migration.end_to_end.fleets import java, librdkafka
from tests.migration.end_to_end.shell import Shell
from tests.migration.end_to_end.test_migrations import state_of
from tests.support.long import LONG

pytestmark = [pytest.mark.kafka, LONG]


def test_java_pattern_stays_and_goes_to_the_broker_later(
    deploy: Deploy, follow: Follow, shell: Shell, tools: ToolHost
) -> None:
    """The plan leaves subscribe(Pattern) alone; where validate-regex agrees, a SubscriptionPattern follows."""
    deployment = deploy(java("range", subscribe=lambda prefix: Subscription(pattern=f"{prefix}-.*")))
    pattern = f"{prefix_of(deployment)}-.*"
    follow(deployment).follow("--to", "consumer", "--client", "java:4.3.1", "--regex", pattern)
    assert state_of(deployment, tools) == ("Consumer", "range", "Stable", "3")

    asked = f"kohort validate-regex {shlex.quote(pattern)} --from java -b {deployment.broker.bootstrap}"
    done = shell.run(asked)
    assert done.returncode == 0, done.stdout
    for one in deployment.applications.values():
        one.subscription = Subscription(re2=pattern)
        one.restart()
        deployment.wait_stable()
    deployment.finish().check()


def test_librdkafka_pattern_is_made_whole_first(
    deploy: Deploy, follow: Follow, shell: Shell, tools: ToolHost
) -> None:
    """`^t` would lose every topic, so the plan is blocked; with what validate-regex writes instead it is not."""
    deployment = deploy(librdkafka("range", subscribe=lambda prefix: Subscription(topics=[f"^{prefix}"])))
    old = f"^{prefix_of(deployment)}"
    servers = f"-b {deployment.broker.bootstrap}"
    options = f"--to consumer --client librdkafka:2.16.0 --regex {shlex.quote(old)} {servers}"
    assert shell.run(f"kohort plan {deployment.group} {options}").returncode == 1

    judged = shell.ask(f"kohort validate-regex {shlex.quote(old)} --from librdkafka {servers} --output json")
    assert judged.returncode == 1
    new: str = json.loads(judged.stdout)["patterns"][0]["rewrite"]
    for one in deployment.applications.values():
        one.subscription = Subscription(topics=[new])
        one.restart()
    deployment.wait_stable()

    options = "--to consumer --client librdkafka:2.16.0 --concurrency 2 --regex"
    follow(deployment).follow(*options.split(), new)
    assert state_of(deployment, tools) == ("Consumer", "range", "Stable", "3")
    deployment.finish().check()


def prefix_of(deployment: Deployment) -> str:
    return next(iter(deployment.topics)).removesuffix("-eu")
