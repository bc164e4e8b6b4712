"""The scripts of docs/migrate, run as by `kohort migrate` for three members, with stand-ins of systemctl, docker and
kubectl that start and stop processes."""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from cli.verbs.migrate.hook import command_of, properties_text, start_hook
from cli.verbs.migrate.processes import mark_of
from migration.execution.events import HookResult
from migration.execution.settings import SettingsChange
from migration.model import PlannedMember, RoundAction
from tests.cli.verbs.migrate.stories import order_of
from tests.cli.verbs.migrate.test_hook import PLAN, read_by_java, result_of
from tests.docs.migrate.stand_in import KEY, Process, StandIns
from tests.docs.pages import DOCS
from tests.support.long import cases

SCRIPTS = sorted((DOCS / "migrate").glob("*.sh"))
BIN = Path(sys.executable).parent
MEMBERS = ("billing-0", "billing-1", "billing-2")
ORIGINAL = r"""# session.timeout.ms is in a remark
bootstrap.servers=a:1,b:2
 session.timeout.ms : 45000
session.timeout.ms.not=kept
partition.assignment.strategy=org.apache.kafka.clients.consumer.RangeAssignor,\
    org.apache.kafka.clients.consumer.StickyAssignor, \
! a line that continues the one before
sasl.jaas.config=a "b" 'c' $d `e` & \\ %s ü \
  f=g
empty
"""
STEP = SettingsChange(
    lines={"group.protocol": "consumer", "group.remote.assignor": "range"},
    removed=("partition.assignment.strategy", "session.timeout.ms"),
)
KEPT = r"""session.timeout.ms.not=kept
sasl.jaas.config=a "b" 'c' $d `e` & \\ %s ü \
  f=g
empty
"""
HEAD = ORIGINAL[: ORIGINAL.index(" session.timeout.ms :")]
AFTER_STEP = f"{HEAD}{KEPT}group.protocol=consumer\ngroup.remote.assignor=range\n"
WRONG = {
    "systemd.sh nothing {files}/{client_id}.properties": "there is no unit nothing",
    "systemd.sh {client_id} {files}/none": "/none cannot be written by ",
    "compose.sh nothing {files}/{client_id}.properties": "there is no service and no container nothing",
    "compose.sh {client_id} {files}/none": "/none cannot be written by ",
    "statefulset.sh billing worker config client.properties": "worker does not end with a pod's ordinal",
    "statefulset.sh billing {client_id} logs client.properties": "has no such volume with a ConfigMap",
    "statefulset.sh billing {client_id} config none": "the ConfigMap billing-config has no none",
    "deployment.sh billing 1.2.3.4 billing-config client.properties": "no pod has the address 1.2.3.4",
    "deployment.sh billing {client_id} nothing client.properties": "configmap/nothing not found",
    "deployment.sh billing {client_id} billing-config none": "the ConfigMap billing-config has no none",
}
CRASH = {
    "systemd": "systemd.sh: {member} does not stay up: journalctl --unit {member}",
    "compose": "compose.sh: {member} is exited: docker logs {member}",
    "statefulset": "{member} does not stay up: kubectl logs --previous {member} app",
    "deployment": "stand-in: timed out waiting: rollout",
}
BOUNCE = SettingsChange(lines={"partition.assignment.strategy": "cooperative-sticky,range"})
AFTER_BOUNCE = (
    f"{HEAD} session.timeout.ms : 45000\n{KEPT}partition.assignment.strategy=cooperative-sticky,range\n"
)
BACK = SettingsChange()
COMMANDS = {
    "systemd": "systemd.sh {client_id} {files}/{client_id}.properties",
    "compose": "compose.sh {client_id} {files}/{client_id}.properties",
    "statefulset": "statefulset.sh billing {client_id} config client.properties",
    "deployment": "deployment.sh billing {host} billing-config client.properties",
}


@dataclass(slots=True)
class Service:
    """Three members under one of the tools."""

    kind: str
    here: Path
    tools: StandIns

    @property
    def members(self) -> Mapping[str, Process]:
        tools = self.tools
        members = {"systemd": tools.units, "compose": tools.containers}.get(self.kind, tools.pods)
        return {name.removeprefix("pod/"): process for name, process in members.items()}

    def processes(self) -> Mapping[str, int]:
        return {name: process.number for name, process in self.members.items() if process.runs}

    def act(
        self,
        member: str,
        action: RoundAction = RoundAction.RESTART,
        change: SettingsChange = STEP,
        command: str | None = None,
    ) -> HookResult:
        pod = self.tools.objects.get(f"pod/{member}")
        host = f"/{pod['status']['podIP']}" if pod else None
        seat = PlannedMember(id=f"{member}-id", client_id=member, host=host)
        command = (command or COMMANDS[self.kind]).replace("{files}", str(self.here))
        words, order = command_of(f"{DOCS / 'migrate'}/{command}"), order_of(seat, (1, 1), change, action)
        return result_of(start_hook(words, order, PLAN, self.here, time.monotonic(), 60.0))


@pytest.fixture
def service(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Service]:
    kind, tools = request.param, StandIns(directory=tmp_path)
    with tools.in_path() as programs:
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        if kind in ("systemd", "compose"):
            of_kind = tools.units if kind == "systemd" else tools.containers
            for member in MEMBERS:
                file = tmp_path / f"{member}.properties"
                file.write_text(ORIGINAL)
                of_kind[member] = Process(settings=file.read_text, service=member)
                of_kind[member].start(tmp_path)
        else:
            config = {"metadata": {"name": "billing-config"}, "data": {KEY: ORIGINAL, "other": "kept"}}
            volumes = [{"name": "other"}, {"name": "config", "configMap": {"name": "billing-config"}}]
            template, strategy = {"spec": {"volumes": volumes}}, {"type": "RollingUpdate"}
            spec = {"replicas": 3, "template": template, "updateStrategy": strategy}
            tools.objects["configmap/billing-config"] = config
            tools.objects[f"{kind}/billing"] = {"metadata": {}, "spec": spec}
            while tools.reconcile():
                pass
        yield Service(kind, tmp_path, tools)


every = pytest.mark.parametrize("service", COMMANDS, indirect=True)


def only(*kinds: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("service", kinds, indirect=True)


def new_of(service: Service, before: Mapping[str, int]) -> str:
    """The only member that runs in a process that it did not run in before."""
    (name,) = (name for name, process in service.processes().items() if process not in before.values())
    return name


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script_is_short_and_has_no_findings(script: Path) -> None:
    lines = script.read_text().splitlines()
    assert len(lines) <= (45 if script.name == "demo.sh" else 40)
    assert max(map(len, lines)) <= 120
    assert os.access(script, os.X_OK)
    done = subprocess.run([BIN / "shellcheck", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def odd_properties(random: Random) -> str:
    """Lines that java.util.Properties reads, in every form."""
    lines = []
    for _ in range(random.randint(0, 40)):
        key = random.choice(
            ["group.protocol", "group_protocol", "session.timeout.ms", "session.timeout", "x", "a.b.c"]
        )
        blanks = [random.choice(["", "", " ", "\t", "  "]) for _ in range(3)]
        value = random.choice(
            ["", "consumer", "a=b:c #d", "C:\\\\x", "\\\\", "$(x)&%s", "one,\\\n  two", "a\\\nx=y"]
        )
        line = f"{blanks[0]}{key}{blanks[1]}{random.choice('=:')}{blanks[2]}{value}"
        remark = f"{blanks[0]}{random.choice('#!')} {key}={value.partition(chr(10))[0]}"
        lines.append(random.choice([line, line, line, f"{key} {value}", key, remark, ""]))
    end = random.choice(["\n", "\n", "\r\n"])
    return end.join("\n".join([*lines, random.choice(["", "x=1"])]).split("\n"))


@pytest.mark.usefixtures("kafka_jars")
def test_java_reads_the_settings_of_a_step_from_any_file(tmp_path: Path) -> None:
    random, config = Random(1), tmp_path / "config"
    config.write_text(properties_text(STEP))
    environment = {**os.environ, "KOHORT_CONFIG": str(config), "KOHORT_REMOVE": ",".join(STEP.removed)}
    before, after = [], []
    for number in range(cases("KOHORT_PROPERTIES", 30, many=1000)):
        before.append(tmp_path / f"{number}.before")
        after.append(tmp_path / f"{number}.after")
        before[-1].write_bytes(odd_properties(random).encode())
        with after[-1].open("wb") as file:
            words = [DOCS / "migrate/settings.sh", before[-1]]
            subprocess.run(words, env=environment, stdout=file, check=True)
    read = read_by_java(tmp_path, [*before, *after])
    for number, (old, new) in enumerate(zip(read[: len(before)], read[len(before) :], strict=True)):
        kept = {name: value for name, value in old.items() if name not in STEP.removed}
        assert new == {**kept, **STEP.lines}, before[number].read_bytes()


@every
def test_a_member_is_restarted_with_the_settings_of_a_step_and_back(service: Service) -> None:
    before = service.processes()
    member = sorted(before)[-1]
    assert len(before) == 3
    assert service.act(member).problem == ""
    after = service.processes()
    assert not mark_of(before[member])
    assert {name for name in before if after.get(name) == before[name]} == before.keys() - {member}
    restarted = new_of(service, before)
    assert service.members[restarted].read == AFTER_STEP
    # The lines of the next step, and none: both against the configuration before the migration.
    for change in (BOUNCE, BACK):
        before = service.processes()
        assert service.act(restarted, change=change).problem == ""
        restarted = new_of(service, before)
        assert service.members[restarted].read == (ORIGINAL if change is BACK else AFTER_BOUNCE)


@every
def test_a_member_is_stopped_and_started_and_a_repetition_is_no_harm(service: Service) -> None:
    before = service.processes()
    last = sorted(before)[-1]
    for _ in range(2 if service.kind != "deployment" else 1):
        assert service.act(last, RoundAction.STOP, SettingsChange()).problem == ""
        assert service.processes().keys() == before.keys() - {last}
    for _ in range(2 if service.kind != "deployment" else 1):
        assert service.act(last, RoundAction.START).problem == ""
        assert len(service.processes()) == 3
        assert service.members[new_of(service, before)].read == AFTER_STEP


@only("statefulset")
@pytest.mark.parametrize(("order", "strategies"), {"012": {"OnDelete"}, "210": set()}.items())
def test_pods_are_restarted_by_partition_if_their_order_allows_it(
    service: Service, order: str, strategies: set[str]
) -> None:
    used = set()
    # Then the rollback, against the order of a partition
    for member, change in [
        *((f"billing-{one}", STEP) for one in order),
        *((one, BACK) for one in MEMBERS[1:]),
    ]:
        before = service.processes()
        assert service.act(member, change=change).problem == ""
        assert new_of(service, before) == member
        if change is STEP:
            used.add(service.tools.objects["statefulset/billing"]["spec"]["updateStrategy"]["type"])
    assert used - {"RollingUpdate"} == strategies
    assert [service.members[member].read == AFTER_STEP for member in MEMBERS] == [True, False, False]


@only("statefulset")
def test_all_pods_are_stopped_and_started_in_one_round(service: Service) -> None:
    with ThreadPoolExecutor(3) as pool:
        stopped = pool.map(lambda member: service.act(member, RoundAction.STOP, SettingsChange()), MEMBERS)
        assert [result.problem for result in stopped] == ["", "", ""]
    assert not service.processes()
    assert [service.act(member, RoundAction.START).problem for member in MEMBERS] == ["", "", ""]
    assert {service.members[member].read for member in MEMBERS} == {AFTER_STEP}


@every
def test_a_process_that_does_not_stay_up_fails(service: Service) -> None:
    member = sorted(service.processes())[-1]
    service.members[member].crashes = service.tools.crashes = True
    problem = service.act(member).problem
    assert problem.startswith("exit status 1; ")
    assert CRASH[service.kind].format(member=member) in problem


@only("systemd")
def test_a_script_acts_on_another_host(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    odd, ssh = service.here / "it's $HOME", service.here / "bin" / "ssh"
    odd.symlink_to(service.here)
    ssh.write_text('#!/bin/sh\nshift 4\nexec env -i PATH="$PATH" sh -c "$*"\n')
    ssh.chmod(0o755)
    before = service.processes()
    file = shlex.quote(f"{odd}/{{client_id}}.properties")
    command = f"over-ssh.sh 10.0.0.7 systemd.sh {{client_id}} {file}"
    assert service.act(MEMBERS[1], command=command).problem == ""
    assert service.members[new_of(service, before)].read == AFTER_STEP
    assert "there is no unit nothing" in service.act("nothing", command=command).problem


@only("systemd", "compose")
def test_a_slow_process_has_gone_before_the_next_one_starts(service: Service) -> None:
    member = service.members[MEMBERS[0]]
    member.stop()
    member.ends_after_s = 0.2
    member.start(service.here)
    before = member.number
    assert service.act(MEMBERS[0]).problem == ""
    assert not mark_of(before)


@pytest.mark.parametrize(
    ("service", "command"), [(command.partition(".")[0], command) for command in WRONG], indirect=["service"]
)
def test_what_does_not_exist_is_named_and_nothing_is_stopped(service: Service, command: str) -> None:
    before = service.processes()
    assert WRONG[command] in service.act(sorted(before)[0], command=command).problem
    assert service.processes() == before
