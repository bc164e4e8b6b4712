"""The rig itself: what it says where Java is missing, or a broker does not start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kafka.broker import Broker, BrokerFailedError
from tests.kafka.child import ROOT
from tests.kafka.connect import join_connect_group
from tests.kafka.groups import wait_group
from tests.kafka.members import fresh_name
from tests.kafka.plugin import REQUIRE

pytestmark = pytest.mark.kafka


def test_a_connect_group_is_shown(broker: Broker) -> None:
    group = fresh_name("connect")
    member_id = join_connect_group(broker, group)
    view = wait_group(broker, group, members=1)
    assert (view.kind, view.protocol_type, view.members[0].member_id) == ("classic", "connect", member_id)


def test_a_broken_setting_shows_the_log(kafka_jars: Path, tmp_path: Path) -> None:
    # The formatter does not look at it, the broker does.
    with pytest.raises(BrokerFailedError, match="99"):
        Broker(kafka_jars, tmp_path, {"offsets.topic.compression.codec": "99"}).start()


@pytest.mark.parametrize(("required", "status"), [("0", 0), ("1", 1)])
def test_without_java_tests_are_skipped_or_fail(required: str, status: int) -> None:
    name = f"{__file__}::test_a_connect_group_is_shown"
    said = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", name],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PATH": "/nowhere", REQUIRE: required},
    )
    assert said.returncode == status, said
    assert "no java on PATH" in said.stdout
    assert ("Skipped for want of a real Kafka broker: 1" in said.stdout) is (status == 0)
