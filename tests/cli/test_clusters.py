"""Several clusters in one answer: read side by side, and one that fails does not hide the others."""

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.cli.contexts import Rig
from tests.cli.offset_rig import OffsetRig
from tests.cli.verbs.watch.running import in_pipe
from tests.wire.client.peer import black_hole, closed_port

FILE = """kohort: 1
topics: {orders: {partitions: 1, end_offsets: {0: 9}}}
groups:
  here: {type: consumer, state: Empty, offsets: {orders: {0: {offset: 5}}}}
  both: {type: classic, state: Empty, offsets: {orders: {0: {offset: 2}}}}
"""


@pytest.fixture(scope="module")
def contexts(kohort: Kohort, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """Give the contexts `file`, `other` (a file too), `closed` and `silent`, clusters that do not answer."""
    rig = Rig(kohort=kohort, home=tmp_path_factory.mktemp("contexts"))
    rig.directory.mkdir(parents=True)
    (rig.home / "file.yaml").write_text(FILE)
    (rig.home / "other.yaml").write_text(FILE.replace("here", "there"))
    with closed_port() as closed, black_hole() as silent:
        for name, source in {
            "file": f"snapshot: {rig.home}/file.yaml",
            "other": f"snapshot: {rig.home}/other.yaml",
            "closed": f"bootstrap_server: {closed}",
            "silent": f"bootstrap_server: {silent}\ntimeout_ms: 200",
        }.items():
            add(rig, name, source)
        yield rig


def add(rig: Rig, name: str, text: str) -> Path:
    file = rig.directory / f"{name}.yaml"
    file.write_text(text)
    file.chmod(0o600)
    return file


def test_dead_clusters_do_not_hide_the_others(contexts: Rig) -> None:
    answer = contexts("list --all-contexts --output json")
    answer.assert_said(3, "kohort: closed: 127.0.0.1:", "kohort: silent: ")
    assert [entry["cluster"] for entry in answer.document["clusters"]] == ["file", "other"]
    rows = [(group["cluster"], group["group"]) for group in answer.document["groups"]]
    assert rows == [("file", "both"), ("file", "here"), ("other", "both"), ("other", "there")]
    assert [error["subject"] for error in answer.document["errors"]] == ["closed", "silent"]
    contexts("list --context silent,closed").assert_refused("silent: ", "closed: ", status=3)


def test_the_given_order_and_the_order_of_all(contexts: Rig) -> None:
    rows = contexts("list --context other,file --output csv").succeeded(stderr="").rows
    assert [(row["CLUSTER"], row["GROUP"]) for row in rows] == [
        *(("other", "both"), ("other", "there"), ("file", "both"), ("file", "here"))
    ]
    once = contexts("list --context file,file --output csv").succeeded()
    assert "CLUSTER" not in once.stdout
    rows = contexts("list --context other,file --output csv --sort group,cluster").succeeded().rows
    assert [row["GROUP"] for row in rows] == ["both", "both", "here", "there"]
    assert [row["CLUSTER"] for row in rows[:2]] == ["file", "other"]


def test_a_group_must_exist_in_one_of_the_clusters(contexts: Rig) -> None:
    answer = contexts("describe here both --context file,other --output json").succeeded()
    assert f"other: here: no such group in {contexts.home}/other.yaml" in answer.stderr
    rows = [(group["cluster"], group["group"]) for group in answer.document["groups"]]
    assert rows == [("file", "here"), ("file", "both"), ("other", "both")]
    contexts("describe neither --context file,other").assert_refused(
        "file: neither", "other: neither", status=3
    )
    answer = contexts("describe --match ^here --context file,other").succeeded()
    assert "other: no group in" in answer.stderr
    contexts("describe --match ^neither --context file,other").assert_refused("file: no group in", status=3)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("list --context file,fill", "--context: there is no context 'fill' in"),
        ("list --context file,", "has an empty part"),
        ("list --context file,other -b host:1", "--context and --bootstrap-server name different sources"),
        ("list --all-contexts --context file", "--all-contexts and --context name different sources"),
        ("list --context file,other --match (", "--match "),
        ("list --compare file file", "--compare file file: name two contexts"),
        ("list --compare file other --context file", "--compare and --context name different sources"),
        ("list --compare file fill", "--compare: there is no context 'fill' in"),
        ("list --context file,other --watch 1", "--watch repeats a view of one cluster"),
        ("diagnose --context file,other --replay file.jsonl", "--replay cannot be used with another source"),
        (
            "why here --context file,other --replay file.jsonl",
            "--journal and --replay are sources themselves",
        ),
        ("why here --context file,other --svg file.svg", "--svg draws groups of one cluster"),
        ("plan here --context file,other --to consumer", "a runbook is one plan"),
        ("plan --all-groups --context file,other --to consumer --svg file.svg", "--svg draws one plan"),
        ("why --all-groups --context file,other", "a snapshot shows one moment"),
        ("snapshot --context file,other", "this command reads one cluster: name one context"),
        ("offsets reset g --to-latest --all-contexts", "it is an option of list, "),
    ],
)
def test_what_is_no_list_of_contexts(contexts: Rig, line: str, reason: str) -> None:
    contexts(line).assert_refused(reason)


def test_a_context_that_cannot_be_read_is_one_that_fails(contexts: Rig) -> None:
    file = add(contexts, "broken", "snapshots: nothing")
    try:
        contexts("list --context broken,file --output csv").assert_said(3, f"broken: {file}, line 1")
        assert "broken" in contexts("list --all-contexts").stderr
    finally:
        file.unlink()


def test_without_contexts_there_are_not_several(kohort: Kohort, tmp_path: Path) -> None:
    Rig(kohort=kohort, home=tmp_path)("list --all-contexts").assert_refused("there are no contexts")


def test_verdicts_of_several_clusters(contexts: Rig, tmp_path: Path) -> None:
    document = contexts("diagnose --all-groups --context other,file --output json").succeeded().document
    clusters = [(one["cluster"], one["group"]) for one in document["groups"]]
    assert clusters == [("other", "both"), ("other", "there"), ("file", "both"), ("file", "here")]
    planned = contexts("plan --all-groups --to consumer --context other,file --output json")
    planned.assert_said(1)  # Nothing is known of the clients of `both`
    assert [(one["cluster"], one["group"]) for one in planned.document["plans"]] == clusters
    answer = contexts(
        "plan --match here --to consumer --context other,file --output csv --output-dir", tmp_path
    )
    assert {row["CLUSTER"]: row["FILE"] for row in answer.rows} == {
        "other": f"{tmp_path}/other/there.yaml", "file": f"{tmp_path}/file/here.yaml",
    }  # fmt: skip


def test_the_past_of_several_clusters(contexts: Rig, sample: Path) -> None:
    files = [add(contexts, name, f"embedded: {sample}") for name in ("east", "west")]
    try:
        document = contexts("why billing --context west,file,east --output json").document
        text = contexts("why billing audit --context west,east").succeeded().stdout
    finally:
        for file in files:
            file.unlink()
    assert [one["cluster"] for one in document["groups"]] == ["west", "east"]
    assert [(one["cluster"], one["source"]) for one in document["clusters"]] == [
        ("west", str(sample)), ("east", str(sample)),
    ]  # fmt: skip
    assert [error["subject"] for error in document["errors"]] == ["file"]
    headings = [
        line for line in text.splitlines() if line in ("west: billing", "east: billing", "east: audit")
    ]
    assert headings == ["west: billing", "east: billing", "east: audit"]


def test_the_same_group_in_two_clusters(contexts: Rig) -> None:
    text = FILE.replace("both: {type: classic", "both: {type: consumer, members: [{id: m}]").replace(
        "offset: 2", "offset: 9"
    )
    (contexts.home / "new.yaml").write_text(text.replace("here", "away"))
    file = add(contexts, "new", f"snapshot: {contexts.home}/new.yaml")
    try:
        document = contexts("list --compare file new --output json").succeeded().document
        shown = contexts("list --compare file new").succeeded().stdout
        rows = contexts("list --compare new file --sort lag --output csv").succeeded().rows
        half = contexts("list --compare new closed --output json")
    finally:
        file.unlink()
    assert document["compared"] == [
        {"group": "away", "only_in": "new", "differences": []},
        {"group": "both", "only_in": None, "differences": ["type", "members", "lag"]},
        {"group": "here", "only_in": "file", "differences": []},
    ]
    assert [(one["cluster"], one["group"]) for one in document["groups"]] == [
        *(("file", "both"), ("file", "here"), ("new", "away"), ("new", "both"))
    ]
    assert [" ".join(line.split()) for line in shown.splitlines()] == [
        "GROUP TYPE ASSIGNOR STATE #MEMBERS LAG DIFFERENCES",
        "away Consumer - Empty 0 4 only in new",
        "both Classic / Consumer - Empty 0 / 1 7 / 0 type, members, lag",
        "here Consumer - Empty 0 4 only in file",
        "",
        "file / new: 1 group in both, 1 of them with differences; 1 only in file, 1 only",
        "in new.",
    ]
    assert [row["GROUP"] for row in rows] == ["both", "away", "here"]
    half.assert_said(3, "closed: ")
    assert "compared" not in half.document


def test_ctrl_c_does_not_wait_for_a_cluster(tmp_path: Path, handled_interrupts: None) -> None:
    kohort, directory = Kohort(tmp_path), tmp_path / ".config" / "kohort" / "config.d"
    directory.mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for name in ("one", "two"):
            port = silent.getsockname()[1]
            (directory / f"{name}.yaml").write_text(f"bootstrap_server: 127.0.0.1:{port}\n")
        with in_pipe(kohort, tmp_path, "list --all-contexts --timeout 10m") as running:
            asked = [silent.accept()[0] for _ in range(2)]
            assert running.interrupt(signal.SIGINT) == 130
            assert (running.stdout, running.stderr) == ("", "")
        for connection in asked:
            connection.close()


@pytest.mark.kafka
def test_a_live_cluster_next_to_a_file(contexts: Rig, rig: OffsetRig) -> None:
    topic = rig.topic([3])
    group = rig.group({(topic, 0): 1})
    file = add(contexts, "live", f"bootstrap_server: {rig.broker.bootstrap}")
    try:
        document = contexts(f"describe {group} here --context live,file --output json").succeeded().document
    finally:
        file.unlink()
    lags = {(one["cluster"], one["group"]): one["offsets"][0]["lag"] for one in document["groups"]}
    assert lags == {("live", group): 2, ("file", "here"): 4}


def test_lag_of_groups_of_several_clusters(contexts: Rig) -> None:
    document = contexts("lag --context file,other --output json").succeeded().document
    lags = [(group["cluster"], group["group"], group["lag"]) for group in document["groups"]]
    assert lags == [("file", "both", 7), ("file", "here", 4), ("other", "both", 7), ("other", "there", 4)]
    assert [one["totals"]["lag"] for one in document["clusters"]] == [11, 11]
    shown = contexts("list --lag --context file,other").succeeded().stdout.splitlines()
    assert [line for line in shown if "Total of " in line] == [
        f"{cluster}: Total of 2 groups: lag 11, 2 partitions." for cluster in ("file", "other")
    ]
