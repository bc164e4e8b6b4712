"""B20: a custom assignor gets the user data that real members sent, so that its dry run is what the group has."""

from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.kafka.broker import Broker
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.support.installed_assignor import install, of_the_page


@pytest.mark.kafka
def test_members_of_a_live_group_are_assigned_by_their_real_user_data(
    kohort: Kohort, broker: Broker, members: Members, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(install(tmp_path, of_the_page())))
    topic, group = fresh_name("loads"), fresh_name("by-load")
    create_topics(broker, {topic: 8})
    for load in (0, 5):
        members.other(
            "kafka-python", broker, group, [topic], partition_assignment_strategy="by-load", load=load
        )
    source = ("--bootstrap-server", broker.bootstrap)

    def owned() -> dict[str, int]:
        answer = kohort.quick("describe", group, "--members", "--output", "json", *source)
        shown = [member for described in answer.document["groups"] for member in described["members"]]
        return {member["id"]: len((member["owned"] or {}).get(topic, ())) for member in shown}

    wait_until(lambda: sorted(owned().values()) == [1, 7], "the member without a load has more")
    (run,) = kohort.quick("dry-run", group, "--output", "json", *source).succeeded().document["groups"]
    assert (run["assignor"], run["moved"], run["undetermined"]) == ("by-load", 0, [])
    after = {member["id"]: sum(map(len, member["after"].values())) for member in run["members"]}
    assert after == owned()
