"""While a cluster does not answer, the last figures stay with their age; a group that cannot be read is a figure."""

import shutil
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.cli.command import Kohort
from tests.cli.served_data import serving
from tests.cli.verbs.exporter.scrapes import Exporter, Figures, exporting
from tests.cli.verbs.serve.test_serve import commit
from tests.conformance.cluster import Cluster
from tests.kafka.ports import free_ports
from tests.kafka.wait import wait_until

QUICKLY = ("--interval", "1", "--timeout", "2000", "--per", "partition")


async def _commit(cluster: Cluster) -> None:
    for group in ("payments", "refunds"):
        assert await commit(cluster, group, {0: 0}) == [0]


def wait_scrape(exporter: Exporter, holds: Callable[[Figures], object], what: str) -> Figures:
    """The first scrape of which something is true."""
    seen: list[Figures] = []

    def check() -> bool:
        seen.append(exporter.scrape())
        return bool(holds(seen[-1]))

    wait_until(check, lambda: f"{what}: {seen[-1:]}\n{exporter.stderr}")
    return seen[-1]


def without_ages(figures: Figures) -> dict[str, object]:
    """The figures of groups that a single poll shows."""
    names = ("kohort_group_state", "kohort_group_info", "kohort_group_members", "kohort_group_lag_records")
    return {name: figures.samples[name] for name in (*names, "kohort_partition_committed_offset")}


def test_the_last_figures_outlast_a_server(kohort: Kohort, tmp_path: Path) -> None:
    (port,) = free_ports(1)
    with (
        serving(tmp_path / "data", "--topic", "orders", port=port) as served,
        exporting(kohort, tmp_path, *QUICKLY, "-b", served.bootstrap) as exporter,
        ExitStack() as stack,
    ):
        served.ask(_commit)
        first = wait_scrape(
            exporter,
            lambda seen: seen("kohort_group_lag_records", group="refunds") == 0,
            "the cluster is read",
        )
        served.kill()
        down = wait_scrape(exporter, lambda seen: seen("kohort_up") == 0, "the cluster is missed")
        age = down("kohort_last_poll_age_seconds") or 0
        later = wait_scrape(
            exporter,
            lambda seen: (
                (seen("kohort_last_poll_age_seconds") or 0) > age + 1
                and (seen("kohort_failed_polls_total") or 0) > 1
            ),
            "the figures grow old",
        )
        assert exporter.get("/-/ready").status == exporter.get("/-/healthy").status == 200
        stack.callback(type(served)(tmp_path / "data", port=port).kill)
        back = wait_scrape(exporter, lambda seen: seen("kohort_up") == 1, "it is back by itself")
        assert without_ages(first) == without_ages(down) == without_ages(later) == without_ages(back)
        stamps = [seen("kohort_last_poll_timestamp_seconds") or 0 for seen in (down, later, back)]
        assert stamps[0] == stamps[1] < stamps[2]
        assert exporter.stderr.count("the next poll tries again") >= 1
        assert "Traceback" not in exporter.stderr
        assert exporter.stop() == 0


def test_an_exporter_waits_for_a_cluster_that_is_not_there_yet(kohort: Kohort, tmp_path: Path) -> None:
    (port,) = free_ports(1)
    with exporting(kohort, tmp_path, *QUICKLY, "-b", f"127.0.0.1:{port}") as exporter:
        seen = wait_scrape(exporter, lambda seen: seen("kohort_failed_polls_total"), "it has tried")
        assert seen("kohort_up") == 0
        assert seen("kohort_last_poll_age_seconds") is None
        assert exporter.get("/-/ready").status == 503
        with serving(tmp_path / "data", "--topic", "orders", port=port) as served:
            served.ask(_commit)
            wait_scrape(
                exporter,
                lambda seen: seen("kohort_group_members", group="payments", protocol="classic") == 0,
                "read",
            )
            assert exporter.get("/-/ready").status == 200


def test_groups_that_cannot_be_read_are_figures(kohort: Kohort, tmp_path: Path) -> None:
    error = "GROUP_AUTHORIZATION_FAILED"
    with serving(None, "--topic", "orders") as served:
        served.ask(_commit)
        source: Sequence[str] = ("-b", served.bootstrap)
        for api, state_is_known in (("DescribeGroups", False), ("OffsetFetch", True)):
            kohort("fault error", error, *source, "--api", api, "--times", "1").succeeded()
            shown = kohort("exporter --once", *source)
            assert shown.status == 3
            figures = Figures.read(shown.stdout)
            assert figures.by("kohort_group_readable", "group") == {"payments": 0, "refunds": 0}
            assert figures.by("kohort_group_unread", "group", error=error) == {"payments": 1, "refunds": 1}
            assert (figures("kohort_up"), figures("kohort_groups"), figures("kohort_unread_groups")) == (
                1,
                2,
                2,
            )
            assert (figures("kohort_group_state", group="refunds", state="Empty") == 1) is state_is_known
            assert figures("kohort_group_lag_records", group="refunds") is None
        figures = Figures.read(kohort("exporter --once", *source).succeeded().stdout)
        assert figures.by("kohort_group_readable", "group") == {"payments": 1, "refunds": 1}
        assert figures.by("kohort_group_lag_records", "group") == {"payments": 0, "refunds": 0}


def test_a_poll_that_waits_for_a_silent_server_ends_at_once(kohort: Kohort, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        bootstrap = f"127.0.0.1:{silent.getsockname()[1]}"
        with exporting(kohort, tmp_path, "--timeout", "600000", "-b", bootstrap) as exporter:
            asked, _ = silent.accept()
            assert exporter.scrape()("kohort_polls_total") == 0
            assert exporter.stop() == 0
            assert exporter.stderr == "kohort: stopped\n"
            asked.close()


def test_a_file_that_breaks_is_read_again(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    file.write_text("kohort: 1\ngroups: {g: {type: classic}}\n")
    written = tmp_path / "node" / "kohort.prom"
    written.parent.mkdir()
    options = ("--interval", "1", "--textfile", written, "--snapshot", file)
    with exporting(kohort, tmp_path, *options) as exporter:
        wait_scrape(exporter, lambda seen: seen("kohort_group_readable", group="g") == 1, "it is read")
        wait_until(written.exists, "it is written")
        shutil.rmtree(written.parent)
        file.write_text("kohort: 1\ngroups: [\n")
        down = wait_scrape(exporter, lambda seen: seen("kohort_up") == 0, "it is broken")
        assert down("kohort_group_readable", group="g") == 1
        file.write_text("kohort: 1\ngroups: {h: {type: classic}}\n")
        back = wait_scrape(exporter, lambda seen: seen("kohort_up") == 1, "it is whole again")
        assert back.by("kohort_group_readable", "group") == {"h": 1}
        assert exporter.stderr.count("cannot be written") == 1
        written.parent.mkdir()
        wait_until(written.exists, "it is written again")
    kohort.quick("exporter --snapshot", tmp_path / "nowhere.yaml").assert_said(3, "nowhere.yaml")


def test_groups_that_no_broker_lists_now_are_not_forgotten(kohort: Kohort, tmp_path: Path) -> None:
    error = "COORDINATOR_LOAD_IN_PROGRESS"
    with serving(None, "--topic", "orders") as served:
        served.ask(_commit)
        source = ("-b", served.bootstrap)
        with exporting(kohort, tmp_path, "--interval", "1", "--timeout", "1000", *source) as exporter:
            wait_scrape(exporter, lambda seen: seen("kohort_groups") == 2, "both are read")
            kohort("fault error", error, *source, "--api", "ListGroups").succeeded()
            missed = wait_scrape(exporter, lambda seen: seen("kohort_unread_groups") == 2, "both are missed")
            assert missed("kohort_up") == 1
            assert missed.by("kohort_group_unread", "group", error=error) == {"payments": 1, "refunds": 1}
            kohort("fault clear", *source).succeeded()
            back = wait_scrape(exporter, lambda seen: seen("kohort_unread_groups") == 0, "both are back")
            assert back.by("kohort_group_readable", "group") == {"payments": 1, "refunds": 1}


def test_one_of_several_clusters_is_lost_and_the_others_are_polled(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    (tmp_path / "groups.yaml").write_text("kohort: 1\ngroups: {g: {type: classic}}\n")
    kohort, contexts = Kohort(tmp_path), tmp_path / ".config" / "kohort" / "config.d"
    contexts.mkdir(parents=True)
    (contexts / "file.yaml").write_text(f"snapshot: {tmp_path}/groups.yaml\n")
    (contexts / "live.yaml").write_text(f"bootstrap_server: 127.0.0.1:{port}\n")
    with (
        serving(None, "--topic", "orders", port=port) as served,
        exporting(kohort, tmp_path, *QUICKLY, "--all-contexts") as exporter,
    ):
        served.ask(_commit)
        wait_scrape(
            exporter,
            lambda seen: seen("kohort_group_lag_records", cluster="live", group="refunds") == 0,
            "it is read",
        )
        served.kill()
        down = wait_scrape(exporter, lambda seen: seen("kohort_up", cluster="live") == 0, "one is missed")
        polls = down("kohort_polls_total", cluster="file") or 0
        later = wait_scrape(
            exporter,
            lambda seen: (seen("kohort_polls_total", cluster="file") or 0) > polls,
            "the other is polled",
        )
        assert later.by("kohort_up", "cluster") == {"file": 1, "live": 0}
        assert later.by("kohort_group_readable", "cluster") == {"file": 1, "live": 1}
        assert exporter.get("/-/ready").status == 200
        assert "kohort: live: " in exporter.stderr
        assert "Traceback" not in exporter.stderr
        assert exporter.stop() == 0
    once = kohort.quick("exporter --once --context live,file --timeout 1s", KOHORT_CONFIG=str(contexts))
    once.assert_said(3, "kohort: live: ")
    assert Figures.read(once.stdout).by("kohort_up", "cluster") == {"file": 1, "live": 0}
    journal = kohort.quick("exporter --journal j --context live,file", KOHORT_CONFIG=str(contexts))
    journal.assert_refused("--journal has the groups of one cluster")
