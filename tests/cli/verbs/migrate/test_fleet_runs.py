"""Fleets of real consumers of librdkafka on `kohort serve`, carried out by `kohort migrate`: all of them, with groups
that fail, and after the command was killed."""

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.command import Answer, Kohort
from tests.cli.served_data import serving
from tests.cli.verbs.migrate import farm as farms
from tests.cli.verbs.migrate.farm import BROKER, CONFIG, SESSION_S, Farm, running_farm
from tests.cli.verbs.watch.running import Running, in_pipe
from tests.support.long import LONG

AT_ONCE = 8


@dataclass(slots=True, kw_only=True)
class MigratedFarm:
    """Services, the directory of their plans, and the runs of `kohort migrate`."""

    farm: Farm
    kohort: Kohort
    directory: Path
    runs: int = 0

    @property
    def plans(self) -> Path:
        return self.directory / "PLANS"

    def make_plans(self) -> Answer:
        file = self.directory / "client.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in CONFIG.items()))
        return self.kohort(
            f"plan --all-groups --to consumer -b {self.farm.bootstrap} --client librdkafka:2.16.1",
            *("--client-config", f"librdkafka={file}", "--bounce-seconds", "2"),
            *("--rehearse", "--seeds", "3", "--output-dir", self.plans),
        )

    @contextmanager
    def migrate(self, *options: str) -> Iterator[Running]:
        self.runs += 1
        words = ("migrate", self.plans, "-b", self.farm.bootstrap, "--restart", self.farm.command)
        limits = (f"--watch={SESSION_S + 4}", f"--return-timeout={2 * SESSION_S}", "--gate-timeout=120")
        more = ("--execute", "--yes", f"--at-once={AT_ONCE}", *options)
        with in_pipe(self.kohort, self.directory, *words, *limits, *more, name=f"run{self.runs}") as run:
            yield run

    def carry_out(self, *options: str) -> int:
        with self.migrate(*options) as run:
            return run.process.wait(3600)

    @property
    def journal(self) -> list[dict[str, Any]]:
        lines = (self.plans / "migration.run" / "events.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def ends(self) -> Mapping[str, str]:
        """How each group ended last, with the rule if it stopped."""
        ended = [event for event in self.journal if event["event"] == "group-ended"]
        return {one["group"]: (one["stopped"] or {}).get("rule", one["state"]) for one in ended}

    def repeated_calls(self) -> list[tuple[str, int]]:
        return [call for call, count in Counter(self.farm.calls).items() if count > 1]

    def check_migrated(self, groups: set[str]) -> None:
        """All consumers of these groups run with the new protocol, and each was restarted once."""
        for service in self.farm.services.values():
            if service.group in groups:
                assert service.config["group.protocol"] == "consumer", service
                assert len(service.starts) == 2, service
                assert service.owned > 0, service


@contextmanager
def migrated_farm(directory: Path, groups: int) -> Iterator[MigratedFarm]:
    sizes = {f"service-{number:02}": 1 + (number > 1) + (number % 7 == 0) for number in range(1, groups + 1)}
    kohort = Kohort(directory / "home")
    (directory / "home").mkdir()
    kohort("--version").succeeded()  # starts what others are forked from, before there are a thousand sockets
    with serving(None, "--brokers", "3", **BROKER) as served, running_farm(served, sizes) as farm:
        fleet = MigratedFarm(farm=farm, kohort=kohort, directory=directory)
        answer = fleet.make_plans()
        assert answer.stdout.rstrip().endswith(f"Wrote {groups} plans: {groups} with warnings."), answer
        yield fleet


@LONG
def test_of_forty_groups_three_stop_and_all_others_finish(tmp_path: Path) -> None:
    with migrated_farm(tmp_path, 40) as fleet:
        print(f"farm ready in {tmp_path}", flush=True)
        faults = {
            "service-11": farms.fail,
            "service-21": farms.stay_away,
            "service-31": farms.forget_lines,
        }
        fleet.farm.faults = faults
        began_s = time.monotonic()
        assert fleet.carry_out("--max-stopped=4") == 1
        print(f"a fleet of 40 groups, {AT_ONCE} at once: {time.monotonic() - began_s:.0f} s")
        causes = {"service-11": "hook", "service-21": "member-missing", "service-31": "wrong-configuration"}
        assert dict(fleet.ends()) == {group: causes.get(group, "finished") for group in fleet.farm.groups}
        fleet.check_migrated({*fleet.farm.groups} - {*faults})
        assert max(map(len, fleet.farm.in_hand)) <= AT_ONCE
        assert fleet.repeated_calls() == []
        report = (fleet.plans / "migration.run" / "report.md").read_text()
        assert report.startswith("# Migration of 40 groups: 37 finished, 3 stopped\n")
        for group, rule in causes.items():
            assert f"| [{group}](../{group}.yaml.run/report.html) | stopped | {rule} |" in report
        # The operator corrects the causes, and runs the command again.
        fleet.farm.faults, before = {}, len(fleet.farm.calls)
        fleet.farm.services["service-21-1"].start()
        assert fleet.carry_out() == 0
        assert set(fleet.ends().values()) == {"finished"}
        assert {name.rpartition("-")[0] for name, _ in fleet.farm.calls[before:]} == {*faults}
        report = (fleet.plans / "migration.run" / "report.md").read_text()
        assert report.startswith("# Migration of 40 groups: 40 finished\n")


@LONG
def test_by_default_one_stopped_group_ends_the_run(tmp_path: Path) -> None:
    with migrated_farm(tmp_path, 6) as fleet:
        fleet.farm.faults = {"service-03": farms.fail}
        assert fleet.carry_out("--at-once=2", "--first=service-05") == 1
        ends = dict.fromkeys(("service-05", "service-01", "service-02", "service-04"), "finished")
        assert fleet.ends() == {**ends, "service-03": "hook"}  # 04 was in its wave, 06 would have followed
        fleet.check_migrated({*ends})


@LONG
def test_a_fleet_that_was_killed_finishes_when_it_is_started_again(tmp_path: Path) -> None:
    with migrated_farm(tmp_path, 12) as fleet:
        for seconds in (25, 40, 60):
            with fleet.migrate() as run:
                time.sleep(seconds)
                assert run.process.poll() is None
                run.process.kill()
        finished = {group for group, end in fleet.ends().items() if end == "finished"}
        assert finished
        assert fleet.carry_out() == 0
        assert fleet.repeated_calls() == []
        fleet.check_migrated({*fleet.farm.groups})
        began = [event for event in fleet.journal if event["event"] == "fleet-began"]
        assert set(began[-1]["finished"]) >= finished
