"""Somebody does something else than the plan says: the gate stays closed, and says what is wrong."""

import pytest

from tests.migration.end_to_end.conftest import Deploy, Follow
from tests.migration.end_to_end.fleets import java, librdkafka
from tests.migration.end_to_end.follower import CLOSED, of_round
from tests.support.long import LONG

pytestmark = pytest.mark.kafka

TO_COOPERATIVE = ("--to", "cooperative", "--client", "java")
TO_CONSUMER = ("--to", "consumer", "--client", "librdkafka:2.16.0")


@LONG
def test_one_bounce_instead_of_two(deploy: Deploy, follow: Follow) -> None:
    """A member with the new assignor alone cannot join: the gate names it, and opens when it has the right list."""
    deployment = deploy(java("range"))
    follower = follow(deployment)
    follower.make_plan(*TO_COOPERATIVE)
    first, second = follower.steps
    (name,) = first["rounds"][0]
    hasty = deployment.applications[name]
    hasty.restart(second["config"])
    assert hasty.running is not None
    assert "InconsistentGroupProtocol" in (hasty.running.wait_event("error").reason or "")
    deployment.wait_stable(len(deployment.applications) - 1)

    assert name in follower.expect(of_round(first["round_command"], 1), CLOSED).said
    assert name in follower.expect(first["commands"][0], CLOSED).said

    hasty.restart(first["config"])
    follower.wait(of_round(first["round_command"], 1))
    deployment.finish().check()


def test_forgotten_member(deploy: Deploy, follow: Follow) -> None:
    """All but one were restarted: the gate of the step names the one."""
    deployment = deploy(java("range"))
    follower = follow(deployment)
    follower.make_plan(*TO_COOPERATIVE)
    first, _ = follower.steps
    *restarted, (forgotten,) = first["rounds"]
    for names in restarted:
        follower.do(first, names)
        deployment.wait_stable()
    said = follower.expect(first["commands"][0], CLOSED).said
    assert forgotten in said
    assert not any(name in said for names in restarted for name in names)
    deployment.finish().check()


@LONG
def test_old_member_rejoins_between_the_bounces(deploy: Deploy, follow: Follow) -> None:
    """It turns the whole group back to the old assignor: strayed, back to the first bounce."""
    deployment = deploy(java("range"))
    follower = follow(deployment)
    follower.make_plan(*TO_COOPERATIVE)
    first, second = follower.steps
    follower.follow_step(first)
    deployment.stranger.start()
    deployment.wait_stable(len(deployment.applications) + 1)
    said = follower.expect(second["commands"][0], CLOSED).said
    assert "step 1" in said
    assert "range" in said
    deployment.stranger.stop()
    deployment.wait_stable()
    follower.wait(first["commands"][0])
    deployment.finish().check()


@LONG
def test_settled_mixed_group(deploy: Deploy, follow: Follow) -> None:
    """One member went back to the classic protocol after the roll: the gate names it and the step to go back to."""
    deployment = deploy(librdkafka("range"))
    follower = follow(deployment)
    follower.make_plan(*TO_CONSUMER)
    follower.follow()
    before = dict(deployment.stranger.config)
    name, backslider = next(iter(deployment.applications.items()))
    backslider.stop()
    backslider.config = before
    backslider.start()
    deployment.wait_stable()
    last = follower.steps[-1]
    said = follower.expect(last["commands"][0], CLOSED).said
    assert name in said
    assert "step" in said
    backslider.restart(last["config"])
    follower.wait(last["commands"][0])
    # Who was there when the first gates opened is in a file: the broker's own log then says the same.
    broker = deployment.broker
    live, log = f"-b {broker.bootstrap}", f"--log-dir {broker.data}"
    follower.wait(last["commands"][0].replace(live, log))
    assert log in follower.polls[-1].command
    deployment.finish().check()
