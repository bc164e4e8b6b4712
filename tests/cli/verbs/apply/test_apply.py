"""`kohort apply` on a real broker: what differs, what is changed, and that it is the same the second time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cli.errors import UsageError
from cli.verbs.apply.desired import read_desired
from tests.cli.command import Answer, Kohort, Word
from tests.cli.offset_rig import FIRST_MS, STEP_MS, OffsetRig
from tests.cli.schemas import load
from tests.kafka.members import fresh_name
from tests.kafka.tool_host import SHARE_GROUPS
from tests.support.golden import assert_recorded
from tests.support.long import cases

SESSION = "consumer.session.timeout.ms"


class Files:
    """Files of groups, and our command on them."""

    def __init__(self, rig: OffsetRig, directory: Path) -> None:
        self.rig, self.file = rig, directory / "groups.yaml"

    def apply(self, groups: dict[str, Any], *options: Word) -> Answer:
        self.file.write_text(json.dumps({"kohort": 1, "groups": groups}))
        return self.rig.kohort.quick(
            "apply", self.file, "-b", self.rig.broker.bootstrap, "--output", "json", *options
        )

    def executed(self, groups: dict[str, Any]) -> Answer:
        return self.apply(groups, "--execute", "--yes")


@pytest.fixture
def files(rig: OffsetRig, tmp_path: Path) -> Files:
    """Give a directory for files, and the shared broker."""
    return Files(rig, tmp_path)


def test_what_differs_is_changed_once(files: Files) -> None:
    rig = files.rig
    topic = rig.topic([20, 20, 20])
    group, old, gone = (
        rig.group({(topic, 0): 3, (topic, 1): 4}),
        rig.group({(topic, 0): 1}),
        fresh_name("gone"),
    )
    moment = f"2026-01-01T00:{7 * STEP_MS // 60_000:02}:00Z"
    assert FIRST_MS == 1_767_225_600_000
    wanted = {
        group: {
            "settings": {SESSION: 46000},
            "offsets": {topic: {"0": 9, "1": "latest", "2": moment}},
        },
        old: {"delete": True},
        gone: {"delete": True},
    }
    check = files.apply(wanted, "--check")
    assert check.status == 1
    shown = files.apply(wanted).succeeded()
    assert shown.document == check.document
    first, second, third = shown.document["groups"]
    assert [(each["name"], each["after"]) for each in first["settings"]] == [(SESSION, "46000")]
    assert [each["after"] for each in first["offsets"]] == [9, 20, 7]
    assert (second["delete"], third["delete"], third["exists"]) == (True, False, False)
    assert rig.committed(group) == {(topic, 0): 3, (topic, 1): 4}  # a preview

    done = files.executed(wanted).succeeded()
    assert all(each["applied"] for each in done.document["groups"][0]["offsets"])
    assert done.document["groups"][1]["deleted"] is True
    assert rig.committed(group) == {(topic, 0): 9, (topic, 1): 20, (topic, 2): 7}
    assert rig.ours("describe", old).status == 3
    for options in (["--check"], ["--execute", "--yes"], []):
        again = files.apply(wanted, *options).succeeded()
        assert "no differences" in again.stderr
        assert [(each["settings"], each["offsets"]) for each in again.document["groups"]] == [([], [])] * 3
    none = {
        group: {"settings": {SESSION: 47000}, "offsets": {topic: {"1": "none", "2": 7}}},
        gone: {"offsets": {topic: "none"}},
    }
    cleared = files.executed(none).succeeded()
    assert "changed 1 setting" in cleared.stderr
    assert "deleted 1 offset" in cleared.stderr
    (row,) = cleared.document["groups"][0]["offsets"]
    assert (row["before"], row["after"], row["applied"]) == (20, None, True)
    assert rig.committed(group) == {(topic, 0): 9, (topic, 2): 7}
    assert files.apply(none, "--check").status == 0
    unset = {group: {"settings": {SESSION: None}, "offsets": {topic: "earliest"}}}
    files.executed(unset).succeeded()
    assert set(rig.committed(group).values()) == {0}
    assert files.apply(unset, "--check").status == 0


def test_members_keep_offsets_and_groups_as_they_are(files: Files) -> None:
    rig = files.rig
    topic = rig.topic([5])
    active, free = rig.group({(topic, 0): 2}), rig.group({(topic, 0): 1})
    with rig.joined(active, topic) as member:
        # Where nothing differs, members do no harm.
        assert files.apply({active: {"offsets": {topic: 2}}}, "--check").status == 0
        wanted = {
            active: {"settings": {SESSION: 46000}, "offsets": {topic: 3}},
            free: {"offsets": {topic: {"0": 4}}},
        }
        assert files.apply(wanted, "--check").status == 4
        answer = files.executed(wanted)
        answer.assert_said(4, "1 active member", member, "changed completely or not at all")
        assert answer.document["groups"][0]["settings"][0]["applied"] is None
        assert files.apply({active: {"settings": {SESSION: 46000}}}, "--check").status == 1
        files.apply({active: {"offsets": {topic: "none"}}}).assert_said(4, member, "subscribes to it")
        assert rig.committed(active) == {(topic, 0): 2}
        assert rig.committed(free) == {(topic, 0): 4}
        waited = files.apply({active: {"delete": True}}, "--wait-empty", "100ms", "--execute", "--yes")
        waited.assert_said(
            4, f"timed out after 100 ms waiting for 1 member of {active}", f"{active}: 1 active member"
        )


@pytest.mark.kafka
def test_a_share_group_starts_where_the_file_says(files: Files) -> None:
    rig, group = files.rig, fresh_name("shared")
    topic = rig.topic([10, 6])
    made = ["--reset-offsets", "--execute", "--group", group, "--topic", topic, "--to-earliest"]
    assert rig.tools.ask(rig.broker, SHARE_GROUPS, *made).returncode == 0
    wanted = {
        group: {"settings": {"share.auto.offset.reset": "earliest"}, "offsets": {topic: {"0": 4, "1": 0}}}
    }
    done = files.executed(wanted).succeeded()
    assert "are delivered, including those that it has acknowledged" in done.stderr
    assert [(each["partition"], each["after"]) for each in done.document["groups"][0]["offsets"]] == [(0, 4)]
    again = files.apply(wanted, "--check").succeeded()
    assert "delivered" not in again.stderr
    files.executed({group: {"delete": True}}).succeeded()
    assert files.apply({group: {"delete": True}}, "--check").status == 0


def test_what_cannot_be_is_said_before_anything_is_changed(files: Files) -> None:
    rig = files.rig
    topic = rig.topic([5])
    group = rig.group({(topic, 0): 2})
    good = {"offsets": {topic: 4}}
    typo = files.executed({group: good, "other": {"settings": {"consumer.sesion.timeout.ms": 45000}}})
    typo.assert_refused("groups.yaml:1: groups.other.settings.consumer.sesion.timeout.ms", SESSION)
    assert rig.committed(group) == {(topic, 0): 2}
    bounds = files.apply({group: {"settings": {SESSION: 1}}})
    bounds.assert_said(4, SESSION, "is less than 6000, the brokers' minimum")
    half = files.executed({group: {"settings": {SESSION: 1}, **good}})
    half.assert_said(4, "completely or not at all")
    assert rig.committed(group) == {(topic, 0): 2}
    beyond = files.apply({group: {"offsets": {topic: 77}}}, "--output", "csv").succeeded()
    assert [(row["NEW"], row["REMARK"]) for row in beyond.rows] == [("5", "77 is beyond the end")]
    other = rig.group({(topic, 0): 2})
    missing = files.apply(
        {other: good, group: {"offsets": {"no-such-topic": 1, topic: {"7": 1}}}},
        "--execute",
        "--yes",
    )
    field = f"groups.yaml:1: groups.{group}.offsets"
    missing.assert_said(
        3,
        f"{field}.no-such-topic: no such topic",
        f"{field}.{topic}.7: no such partition",
    )
    assert (rig.committed(group), rig.committed(other)) == ({(topic, 0): 2}, {(topic, 0): 4})
    impossible = files.apply({group: {"offsets": {"no topic": 1}}})
    impossible.assert_refused(f"{field}.no topic: not a topic's name: up to 249 letters")
    both = files.apply({group: good}, "--check", "--execute", "--yes")
    both.assert_refused("cannot be used together")


MISTAKES = [
    "kohort: 1\ngroups:\n  a: {setings: {}}\n",
    "kohort: 1\ngroups:\n  a: {}\n  a: {}\n",
    "kohort: 1\ngroups:\n  a:\n    delete: yes\n",
    "kohort: 1\ngroups:\n  a: {delete: true, offsets: {}}\n",
    "kohort: 1\ngroups:\n  a:\n    offsets:\n      t: {0: earlyest}\n",
    "kohort: 1\ngroups:\n  a: {offsets: {t: -3}}\n",
    "kohort: 1\ngroups:\n  a: {offsets: {t: 2026-13-01}}\n",
    "kohort: 1\ngroups:\n  a: {offsets: {t: 99999999999999999999}}\n",
    "kohort: 1\ngroups:\n  a: {offsets: {t: {one: 3}}}\n",
    "kohort: 1\ngroups:\n  a: {offsets: {t: {0: 1, 00: 2}}}\n",
    "kohort: 1\ngroups:\n  a: {offsets: {t: null}}\n",
    "kohort: 1\ngroups:\n  a: {settings: {b: [1]}}\n",
    "kohort: 1\ngroups: [a]\n",
    "kohort: 2\ngroups: {}\n",
    "kohort: 1\ngroup: {}\n",
    '{"kohort": 1, "groups": {"a": {"delete": 1}}}',
    "groups: {}\n",
    "kohort: 1\ngroups: {a: {b\n",
    "",
]


def test_mistakes_in_the_file_have_the_recorded_answers(kohort: Kohort, tmp_path: Path) -> None:
    file, answers = tmp_path / "groups.yaml", {}
    for text in MISTAKES:
        file.write_text(text)
        answer = kohort.quick("apply", file, "-b", "localhost:1")
        assert answer.status == 2
        answers[repr(text)] = answer.stderr.replace(str(tmp_path), "")
    assert_recorded("apply/mistakes.txt", answers)


def test_standard_input_is_a_file(kohort: Kohort) -> None:
    answer = kohort.quick("apply", "-", "-b", "localhost:1", stdin="kohort: 1\ngroups:\n  a: {delete: 2}\n")
    answer.assert_refused("-:3: groups.a.delete")


def test_a_file_that_is_not_there(kohort: Kohort, tmp_path: Path) -> None:
    kohort.quick("apply", tmp_path / "no.yaml", "-b", "localhost:1").assert_refused(
        "cannot be read", status=3
    )


def test_previews_of_a_directory_leave_out_settings(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    file.write_text("kohort: 1\ngroups:\n  nightly-report: {delete: true}\n")
    answer = kohort.quick("apply", file, "--embedded", sample, "--output", "json").succeeded()
    assert answer.document["groups"][0]["delete"] is True
    kohort.quick("apply", file, "--embedded", sample, "--check").assert_said(1)
    file.write_text(f"kohort: 1\ngroups:\n  nightly-report: {{settings: {{{SESSION}: 45000}}}}\n")
    kohort.quick("apply", file, "--embedded", sample).assert_refused("only on a live cluster")


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 2**70),
    st.floats(allow_nan=False),
    st.sampled_from(["earliest", "latest", "2026-01-01", "2026-01-01T00:00:00Z", "true", "0", "x"]),
    st.text(max_size=5),
)
NAMES = st.one_of(
    st.sampled_from(["kohort", "groups", "settings", "offsets", "delete", "0", "1", "orders"]),
    st.text(max_size=5),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "settings": st.dictionaries(NAMES, SCALARS, max_size=3) | TREES,
        "offsets": st.dictionaries(NAMES, SCALARS | st.dictionaries(NAMES, SCALARS, max_size=3), max_size=3)
        | TREES,
        "delete": st.booleans() | SCALARS,
    },
)
DOCUMENTS = TREES | st.fixed_dictionaries(
    {"kohort": st.just(1), "groups": st.dictionaries(NAMES, ENTRIES | TREES, max_size=3) | TREES}
)


@settings(max_examples=cases("KOHORT_FUZZ_CASES", 150, many=20_000), deadline=None)
@given(DOCUMENTS, st.booleans())
def test_any_file_is_read_or_refused_and_what_is_read_fits_the_schema(
    tmp_path_factory: pytest.TempPathFactory, tree: Any, as_yaml: bool
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    text = yaml.safe_dump(tree, allow_unicode=True) if as_yaml else json.dumps(tree)
    file.write_text(text, encoding="utf-8")
    refused: list[str] = []
    try:
        read_desired(file)
    except UsageError as error:
        refused.append(str(error))
    assert all(text.startswith(str(file)) for text in refused)
    if not refused and not as_yaml:  # YAML's words keep their text: `0` may be a number or not
        validator = Draft202012Validator(load("groups-file"))
        faults = [each for each in validator.iter_errors(tree) if not _is_lenient(each.instance)]
        assert faults == []


def _is_lenient(value: Any) -> bool:
    """Texts that are read as what they say: "true", "3"."""
    return isinstance(value, str)
