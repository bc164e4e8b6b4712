"""The commands that play a seed again say of the clients what a plan of this group may say."""

from migration.client_config import ClientConfig, Setting
from migration.clients import parse_clients
from migration.model import Destination
from pipeline.audit.judge import AuditSettings
from pipeline.rehearsal.play import replay_commands
from tests.migration.rehearsal.groups import classic_group


def _config(
    name: str, *, member: str | None = None, library: str | None = None, group: str = ""
) -> ClientConfig:
    of_group = Setting(key="group.id", written="group.id", value=group, line=1)
    return ClientConfig(
        name=name,
        settings=(of_group,) if group else (),
        member=member,
        library=library,
        is_for_library=library is not None,
    )


def test_a_plan_without_options() -> None:
    planned = AuditSettings(destinations=(Destination.CONSUMER,))
    group = classic_group()
    assert replay_commands(group, planned, "a b.yaml", 7, {"group.max.size": "3"}) == [
        f"kohort plan {group.id} --to consumer --snapshot 'a b.yaml' --output yaml > PLAN.yaml",
        "kohort rehearse PLAN.yaml --snapshot 'a b.yaml' --set group.max.size=3 --seed 7 --story",
    ]


def test_members_and_files_of_other_groups_are_left_out() -> None:
    group = classic_group()
    member = group.members[0].id
    planned = AuditSettings(
        destinations=(Destination.COOPERATIVE,),
        declared=parse_clients(["java:4.1.0", f"{member}=librdkafka", "stranger=java:3.7.0"]),
        configs=(
            _config("all.properties"),
            _config("mine.properties", member=member),
            _config("theirs.properties", member="stranger"),
            _config("other.properties", group="other"),
            _config("java.properties", library="java"),
        ),
        regexes=("orders-.*",),
        concurrency=2,
        bounce_s=10.0,
    )
    configs = (
        f"--client-config all.properties --client-config {member}=mine.properties "
        "--client-config java=java.properties"
    )
    assert replay_commands(group, planned, "a.yaml", 7, {}) == [
        f"kohort plan {group.id} --to cooperative --client java:4.1.0 --client {member}=librdkafka {configs} "
        "--regex 'orders-.*' --concurrency 2 --bounce-seconds 10.0 --snapshot a.yaml --output yaml > PLAN.yaml",
        f"kohort rehearse PLAN.yaml --snapshot a.yaml {configs} --seed 7 --story",
    ]
