"""`kohort plan` for one group and for many, with declarations of their clients."""

import json
import re
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.verbs.plan.action import repeated_command
from cli.verbs.plan.files import read_client_config, read_clients
from tests.cli.command import Answer, Kohort, words
from tests.support.golden import assert_recorded
from wire.client.config.config_file import ConfigFileError

JAVA = "org.apache.kafka.clients.consumer."
SECRET = "hunter2"
JAVA_FILE = f"""\
# the application's own
bootstrap.servers=b:9092
group.id=billing
key.deserializer=org.apache.kafka.common.serialization.StringDeserializer
session.timeout.ms=10000
partition.assignment.strategy={JAVA}RangeAssignor
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="{SECRET}";
"""


def _plan(
    kohort: Kohort, sample: Path, *arguments: str | Path, to: str = "consumer", output: str = "table"
) -> Answer:
    line = words(f"plan --to {to} --output {output} --embedded", sample)
    answer = kohort.quick(*line, *words(*arguments))
    assert not answer.traceback, answer.stderr
    return answer


def test_all_groups_get_a_row_each(kohort: Kohort, sample: Path) -> None:
    listed = kohort.quick("list --embedded", sample, "--output", "csv").rows
    answer = _plan(kohort, sample, "--all-groups", output="csv")
    assert answer.status == 1
    rows = {row["GROUP"]: row for row in answer.rows}
    assert list(rows) == [row["GROUP"] for row in listed]
    assert {name: row["VERDICT"] for name, row in rows.items()} == {
        "audit": "ready", "billing": "warnings", "checkout": "warnings", "clickstream": "warnings",
        "connect-s3-sink": "blocked", "fraud": "ready", "legacy-etl": "blocked", "nightly-report": "unknown",
        "search-indexer": "warnings", "warehouse": "warnings",
    }  # fmt: skip
    assert rows["legacy-etl"]["FIRST-REASON"].startswith("Its assignment carries 3 bytes of user data")
    hint = "the client library of 1 group is unknown\nkohort: Set it with --client LIBRARY[:VERSION],"
    assert answer.stderr.count(hint) == 1
    assert rows["fraud"]["FIRST-REASON"] == "Nothing to do."
    assert (
        rows["billing"]["FIRST-REASON"]
        == "java supports the consumer protocol since 4.0; the version is unknown."
    )


@pytest.mark.parametrize(
    ("selection", "status"),
    [(["--match", "^(billing|fraud)$"], 0), (["billing", "fraud"], 0), (["--match", "legacy"], 1)],
)
def test_a_table_is_false_when_one_is_blocked(
    kohort: Kohort, sample: Path, selection: list[str], status: int
) -> None:
    answer = _plan(kohort, sample, *selection)
    assert answer.status == status
    assert "VERDICT" in answer.stdout


def test_programs_get_every_plan_as_they_get_one(kohort: Kohort, sample: Path) -> None:
    """The shape depends on how groups are asked for, never on how many there are."""
    one = _plan(kohort, sample, "billing", output="json").document
    many = _plan(kohort, sample, "--match ^billing$", output="json").document
    assert many["plans"] == [{name: one[name] for name in one if name not in ("kohort", "command", "errors")}]
    assert set(many) == {"kohort", "command", "plans", "errors"}


def test_generic_is_classic(kohort: Kohort, sample: Path) -> None:
    answers = [_plan(kohort, sample, "fraud", to=to, output="json") for to in ("generic", "classic")]
    assert answers[0].document == answers[1].document
    assert answers[0].document["to"] == "classic"


OWN_RULES = re.compile(r"client-config|rebalance-listener|regex-refused")
LEGACY = "legacy-etl --clients {file}"
DECLARED: dict[str, tuple[str, str, str]] = {
    "clients in yaml": (LEGACY, "a.yaml", "{member}: java:4.1\n"),
    "clients in json": (LEGACY, "a.json", '{{"{member}": "java:4.1"}}'),
    "clients in csv with a heading": (LEGACY, "a.csv", "MEMBER,LIBRARY,VERSION\n{member},java,4.1\n"),
    "clients in csv": (LEGACY, "a.csv", "{member},java:4.1\n\n"),
    "the command line counts more": (LEGACY + " --client {member}=sarama", "a.csv", "{member},java:4.1\n"),
    "a framework": ("billing --framework Decaton", "unused", ""),
    "an unknown framework": ("billing --framework decatron", "unused", ""),
    "a configuration names what must go": (
        "billing --client java:4.1 --client-config {file}", "java.properties", JAVA_FILE,
    ),
    "a file without a client setting": (
        "billing --client-config {file}", "filebeat.yml",
        "filebeat.inputs:\n- {{type: kafka, hosts: [b:9092], group_id: beats}}\n",
    ),
    "of several groups a file counts for the one that it names": (
        "billing warehouse --client-config {file}", "java.properties", JAVA_FILE,
    ),
    "a file of another group": ("warehouse --client-config {file}", "java.properties", JAVA_FILE),
    "a regex is read with the client's engine": (
        "billing --client librdkafka:2.16 --regex ^(?=a)b", "unused", "",
    ),
}  # fmt: skip


def test_plans_of_declared_members_are_as_recorded(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    """The library that each plan is for, and its findings."""
    described = kohort.quick("describe legacy-etl --embedded", sample, "--output", "json").document
    member = described["groups"][0]["members"][0]["id"]
    answers = {}
    for name, (arguments, file_name, text) in DECLARED.items():
        file = tmp_path / file_name
        file.write_text(text.format(member=member))
        answer = _plan(kohort, sample, *arguments.format(file=file, member=member).split(), output="json")
        lines = [f"status {answer.status}", answer.stderr.strip()]
        document = answer.document if answer.stdout else {}
        for plan in document.get("plans", [document] if document else []):
            lines.append(f"{plan['group']} for {plan['client']}, {len(plan['steps'])} steps")
            for one in plan["findings"]:
                message = f": {one['message']}" if OWN_RULES.match(one["rule"]) else ""
                lines.append(f"  {one['level']} {one['rule']}{message}")
        answers[name] = "\n".join(lines).replace(f"{tmp_path}/", "").replace(member, "MEMBER")
    assert_recorded("declared.txt", answers)


BAD_CLIENTS = {
    "unknown": ("a.yaml", "m1: jawa\n", "unknown client library 'jawa'"),
    "no-mapping": ("a.yaml", "- m1\n", "expected a mapping"),
    "nothing": ("a.yaml", "", "expected a mapping"),
    "nested": ("a.yaml", "m1: {library: java}\n", "m1: expected LIBRARY[:VERSION]"),
    "no-yaml": ("a.yaml", "m1: [", "not YAML or JSON"),
    "columns": ("a.csv", "m1,java,4.1,x\n", "line 1: expected MEMBER,LIBRARY[,VERSION], found 4 values"),
    "contradiction": ("a.csv", "m1,java\nm1,sarama\n", "line 2: 'm1' is listed twice"),
    "version": ("a.csv", "m1,java,new\n", "'new' is not a version"),
    "empty-cell": ("a.csv", "m1,\n", "expected both MEMBER and LIBRARY"),
    "only-a-heading": ("a.csv", "member,library\n", "names no member"),
    "quote": ("a.csv", 'm1,"java\n', "not CSV"),
}


@pytest.mark.parametrize(("name", "text", "said"), BAD_CLIENTS.values(), ids=BAD_CLIENTS.keys())
def test_a_file_of_clients_that_is_invalid(
    kohort: Kohort, sample: Path, tmp_path: Path, name: str, text: str, said: str
) -> None:
    file = tmp_path / name
    file.write_text(text)
    _plan(kohort, sample, "billing", "--clients", file).assert_refused(said, str(file), status=3)


@pytest.mark.parametrize("output", ["table", "json", "yaml", "csv", "markdown", "html"])
@pytest.mark.parametrize("name", ["c.properties", "c.yaml", "c.json"])
def test_no_secret_is_ever_printed(
    kohort: Kohort, sample: Path, tmp_path: Path, output: str, name: str
) -> None:
    file = tmp_path / name
    pairs = dict(line.split("=", 1) for line in JAVA_FILE.splitlines() if "=" in line)
    file.write_text(JAVA_FILE if name.endswith("properties") else json.dumps(pairs))
    answer = _plan(kohort, sample, "billing", "--client-config", file, output=output).succeeded()
    assert SECRET not in answer.stdout + answer.stderr


@pytest.mark.parametrize(
    ("argument", "status", "said"),
    [
        ("{tmp}/missing", 3, "the file does not exist"),
        ("java={tmp}/missing", 3, "the file does not exist"),
        ("absent={tmp}/good", 2, "--client-config names 'absent', which is not a member of billing"),
        ("={tmp}/good", 2, "has nothing before the ="),
        ("{tmp}", 3, "this is a directory"),
        ("{tmp}/escape", 3, "line 1: \\u must be followed by four hexadecimal digits"),
        ("{tmp}/latin", 3, "UTF-8"),
        ("{tmp}/list.yaml", 3, "expected a mapping of settings"),
    ],
)
def test_configurations_that_cannot_be_used(
    kohort: Kohort, sample: Path, tmp_path: Path, argument: str, status: int, said: str
) -> None:
    (tmp_path / "good").write_text("group.id=billing\n")
    (tmp_path / "escape").write_text("a=\\u12\n")
    (tmp_path / "latin").write_bytes(b"a=\xff\n")
    (tmp_path / "list.yaml").write_text("- a\n")
    answer = _plan(kohort, sample, "billing", "--client-config", argument.format(tmp=tmp_path))
    answer.assert_refused(said, status=status)


@settings(max_examples=200)
@given(content=st.binary(max_size=300), suffix=st.sampled_from([".properties", ".yaml", ".json", ".csv", ""]))
def test_no_file_is_a_fault(tmp_path_factory: pytest.TempPathFactory, content: bytes, suffix: str) -> None:
    """A file is read or refused, whatever its contents."""
    file = tmp_path_factory.mktemp("fuzz") / f"c{suffix}"
    file.write_bytes(content)
    for read in (lambda: read_client_config(str(file)), lambda: read_clients(file)):
        with suppress(ConfigFileError):
            read()


def test_aliases_of_yaml_cost_no_memory(tmp_path: Path) -> None:
    lines = ["a0: &a0 {b: c}"] + [
        f"a{n}: &a{n} {{{', '.join(f'k{k}: *a{n - 1}' for k in range(10))}}}" for n in range(1, 9)
    ]
    file = tmp_path / "bomb.yaml"
    file.write_text("\n".join(lines))
    with pytest.raises(ConfigFileError, match="too many for a configuration file"):
        read_client_config(str(file))


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("do g", "kohort do g --output yaml"),
        ("do g --flag --number 3", "kohort do g --number 3 --flag --output yaml"),
        ("do g -n 3 --output csv", "kohort do g --number 3 --output yaml"),
        ("do g --many a --many 'b c'", "kohort do g --many a --many 'b c' --output yaml"),
        ("do --file 'my file' a b", "kohort do a b --file 'my file' --output yaml"),
        ("do --flag -- -b a", "kohort do --flag --output yaml -- -b a"),
    ],
)
def test_a_command_that_is_shown_holds_what_was_given(
    typed: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Quoted, to be typed again."""
    app = typer.Typer(add_completion=False)

    @app.command("do")
    def do(
        context: typer.Context,
        groups: list[str],
        number: Annotated[int, typer.Option("--number", "-n")] = 1,
        many: Annotated[list[str] | None, typer.Option("--many")] = None,
        flag: Annotated[bool, typer.Option("--flag")] = False,
        file: Annotated[Path | None, typer.Option("--file")] = None,
        output: Annotated[str, typer.Option("--output")] = "table",
    ) -> None:
        assert isinstance((groups, number, many, flag, file, output), tuple)
        print(repeated_command(context, without=("output",), with_options=("--output", "yaml")))

    app.command("another")(lambda: None)
    app(shlex.split(typed), prog_name="python -m something", standalone_mode=False)
    assert capsys.readouterr().out == f"{shown}\n"
