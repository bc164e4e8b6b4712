"""`kohort context`: files of contexts are written, changed and shown; secrets stay where they are."""

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cli.command import Answer, Kohort
from tests.cli.contexts import Rig
from tests.kafka.broker import CLUSTER_ID, Broker

SECRET = "geheim-4711"
SCRAM = [
    "--property", "security.protocol=SASL_SSL", "--property", "sasl.mechanism=SCRAM-SHA-512",
    "--property", "sasl.username=kohort",
]  # fmt: skip
TWO = """\
# the clusters
current: production
contexts:
  production:
    bootstrap_server: kafka-1:9093
    protected: true
  staging: {bootstrap_server: staging:9092}
"""


@pytest.fixture
def rig(kohort: Kohort, tmp_path: Path) -> Rig:
    return Rig(kohort=kohort, home=tmp_path)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_first_context_creates_the_directory(rig: Rig) -> None:
    answer = rig("context add production -b kafka-1:9093,kafka-2:9093 --protected --use")
    answer.succeeded(
        stderr=f"kohort: added the context production to {rig.directory}: kafka-1:9093,kafka-2:9093\n"
    )
    assert rig.texts == {
        "current": "production\n",
        "production.yaml": 'bootstrap_server: "kafka-1:9093,kafka-2:9093"\nprotected: true\n',
    }
    assert {mode_of(file) for file in rig.directory.iterdir()} == {0o600}
    assert (mode_of(rig.directory), mode_of(rig.directory.parent)) == (0o700, 0o700)


def test_every_setting_can_be_added(rig: Rig, tmp_path: Path) -> None:
    properties = tmp_path / "client.properties"
    properties.write_text("bootstrap.servers=k:1\n")
    for arguments in (
        ["file", "--command-config", str(properties)],
        ["saved", "--snapshot", "a b.yaml", "--output", "json"],
        ["disk", "--log-dir", "/d/1", "--log-dir", "d2", "--as-of", "-15m", "--topics", "t.txt"],
        ["demo", "--embedded", "demo", "--timeout", "500"],
        ["null", "-b", "[::1]:9092", *SCRAM, "--secret-env", "sasl.password=PW"],
    ):
        answer = rig("context add", *arguments).succeeded()
        assert f"`kohort context use {arguments[0]}` makes it the current one" in answer.stderr
    here = Path.cwd()
    assert {name.removesuffix(".yaml"): yaml.safe_load(text) for name, text in rig.texts.items()} == {
        "file": {"command_config": str(properties)},
        "saved": {"snapshot": f"{here}/a b.yaml", "output": "json"},
        "disk": {"log_dirs": ["/d/1", f"{here}/d2"], "as_of": "-15m", "topics": f"{here}/t.txt"},
        "demo": {"embedded": f"{here}/demo", "timeout_ms": 500},
        "null": {
            "bootstrap_server": "[::1]:9092",
            "properties": {
                "security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "kohort",
                "sasl.password": {"env": "PW"},
            },
        },
    }  # fmt: skip
    listed = rig("context list --output json").document
    assert [(context["context"], context["source"]) for context in listed["contexts"]] == [
        ("demo", "embedded"), ("disk", "log"), ("file", "live"), ("null", "live"), ("saved", "snapshot"),
    ]  # fmt: skip


def test_a_secret_of_standard_input_gets_its_own_file(rig: Rig) -> None:
    answer = rig(
        "context add eu -b k:1", *SCRAM, "--secret", "sasl.password", "--secret", "ssl.key.password",
        stdin=f"{SECRET}\nzweites\r\n",
    )  # fmt: skip
    files = {file.name: file for file in (rig.directory.parent / "secrets").iterdir()}
    texts = {name: file.read_text() for name, file in files.items()}
    assert texts == {"eu.sasl.password": f"{SECRET}\n", "eu.ssl.key.password": "zweites\n"}
    assert {mode_of(file) for file in files.values()} == {0o600}
    assert (answer.status, mode_of(rig.directory.parent / "secrets")) == (0, 0o700)
    assert SECRET not in str(rig.texts) + answer.stdout + answer.stderr
    assert "{file: secrets/eu.sasl.password}" in rig.texts["eu.yaml"]


def test_without_a_secret_nothing_is_written(rig: Rig) -> None:
    answer = rig("context add eu -b k:1", *SCRAM, "--secret", "sasl.password")
    answer.assert_said(2, "--secret sasl.password: no secret was given")
    assert not rig.file.parent.exists()


def test_use_and_rename_leave_the_contexts_as_they_are(rig: Rig) -> None:
    commented = "# mine\nbootstrap_server: kafka-1:9093   # the first\nprotected: true\n"
    rig("context add production -b k:1 --use")
    (rig.directory / "production.yaml").write_text(commented)
    rig("context add staging -b staging:9092")
    assert rig("context use staging").stderr == "kohort: the current context is staging: staging:9092\n"
    assert rig.texts["current"] == "staging\n"
    assert rig("context rename staging tries").status == 0
    assert rig("context rename production eu").status == 0
    assert rig.texts == {
        "current": "tries\n", "eu.yaml": commented, "tries.yaml": 'bootstrap_server: "staging:9092"\n',
    }  # fmt: skip
    answer = rig("context use eu")
    assert answer.stderr == "kohort: the current context is eu, protected: kafka-1:9093\n"
    assert rig("context use --none").status == 0
    assert sorted(rig.texts) == ["eu.yaml", "tries.yaml"]


def test_a_single_file_becomes_a_directory_at_the_first_change(rig: Rig) -> None:
    text = TWO + "  disk: {log_dirs: [data], topics: t.txt}\n" + (
        f"  eu:\n    bootstrap_server: [k:1, 'k:2']\n    timeout_ms: 5s\n    properties:\n"
        f"      sasl.password: {SECRET}\n      ssl.key.password: {{file: keys/a}}\n"
    )  # fmt: skip
    rig.write(text)
    before = rig("context list --output json").document
    shown = rig("context show eu --output json").document
    assert not rig.directory.exists()
    answer = rig("context use staging").succeeded()
    kept = rig.file.with_name("config.yaml.bak")
    moved = (
        f"each context is now a file in {rig.directory}; the old file, with its comments, is kept as {kept}"
    )
    assert moved in answer.stderr
    assert SECRET not in answer.stderr
    assert (rig.file.exists(), kept.read_text(), mode_of(kept)) == (False, text, 0o600)
    assert sorted(rig.texts) == ["current", "disk.yaml", "eu.yaml", "production.yaml", "staging.yaml"]
    assert {mode_of(file) for file in rig.directory.iterdir()} == {0o600}
    after = rig("context list --output json").document
    assert after["current"] == "staging"
    by_name = {context["context"]: {**context, "current": None} for context in after["contexts"]}
    assert by_name == {context["context"]: {**context, "current": None} for context in before["contexts"]}
    document = rig("context show eu --output json").document
    assert {**document, "file": None} == {**shown, "file": None}
    rig.write(TWO)
    assert rig("context list --output json").document == after


@pytest.mark.parametrize("left", ["draft", "both"])
def test_an_interrupted_move_loses_nothing(rig: Rig, left: str) -> None:
    rig.write(TWO)
    draft = rig.directory.with_name(".config.d.new")
    draft.mkdir()
    (draft / "half.yaml").write_text("bootstrap_s")
    if left == "both":
        rig("context use staging")
        rig.write(TWO)
    listed = rig("context list --output json").document
    assert [context["context"] for context in listed["contexts"]] == ["production", "staging"]
    rig("context add new -b k:1").succeeded()
    assert {"new.yaml", "production.yaml", "staging.yaml"} <= rig.texts.keys()


def test_without_a_file(rig: Rig) -> None:
    answer = rig("context list --output json")
    assert (answer.status, answer.document["contexts"]) == (0, [])
    missing = f"{rig.directory} does not exist; `kohort context add` creates it"
    assert missing in answer.stderr
    for line in ("use a", "rename a b"):
        rig(f"context {line}").assert_said(3, missing)
        assert not rig.directory.exists()
    assert "no context is in use; name one" in rig("context show").stderr


def test_the_list(rig: Rig) -> None:
    rig.write(TWO)
    answer = rig("context list").succeeded(stderr="")
    assert answer.stdout == (
        "USED  CONTEXT     SOURCE  WHERE         PROTECTED\n"
        "*     production  live    kafka-1:9093  yes\n"
        "      staging     live    staging:9092\n"
    )
    for variable, value, in_force in (
        (None, "", "production"), ("KOHORT_CONTEXT", "staging", "staging"), ("KOHORT_BOOTSTRAP_SERVER", "k:1", None),
    ):  # fmt: skip
        env = {variable: value} if variable else {}
        answer = rig("context list --output json", **env)
        document = answer.document
        facts = (document["current"], document["in_force"], document["named_by"])
        assert facts == ("production", in_force, variable or "current")
        wins = f"{variable}={value} is set in the environment and overrides the current context"
        assert (wins in answer.stderr) is bool(variable)
        shown = rig("context show --output json", **env)
        if in_force is None:
            shown.assert_refused(f"no context is in use: the variable {variable} selects the source")
        else:
            assert shown.document["context"] == in_force


def test_show_tells_where_a_secret_is_and_not_what_it_is(rig: Rig, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text(SECRET)
    kept.chmod(0o600)
    rig.write(
        f"contexts:\n  a:\n    bootstrap_server: k:1\n    timeout_ms: 5\n    properties:\n"
        f"      sasl.password: {SECRET}\n      sasl.username: me\n      ssl.key.password: {{file: {kept}}}\n"
        f"      ssl.truststore.password: {{env: STORE}}\n      ssl.keystore.password: {{file: nowhere}}\n"
        f"      ssl.key.pem: {{command: touch {tmp_path}/run}}\n"
    )
    answer = rig("context show a")
    assert (answer.status, SECRET in answer.stdout + answer.stderr) == (0, False)
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in answer.stdout.splitlines()}
    assert not (tmp_path / "run").exists()
    missing = f"- file {rig.file.parent}/nowhere (the file of a secret does not"
    assert rows.pop("ssl.keystore.password").startswith(missing)
    expected = {
        "sasl.password": "- a secret in the configuration file itself", "sasl.username": "me",
        "ssl.key.pem": f"- command touch {tmp_path}/run", "ssl.key.password": f"- file {kept}",
        "ssl.truststore.password": "- environment variable STORE (not set)",
    }  # fmt: skip
    assert rows.items() >= expected.items()
    assert "contains secrets of the context a (sasl.password)" in answer.stderr
    answer = rig("context show a --output json", STORE=SECRET)
    assert SECRET not in answer.stdout
    facts = ("kept_in", "secret", "available")
    properties = answer.document["properties"]
    assert {entry["name"]: tuple(entry[fact] for fact in facts) for entry in properties} == {
        "sasl.password": ("literal", True, True), "sasl.username": ("literal", False, True),
        "ssl.key.password": ("file", True, True), "ssl.truststore.password": ("environment", True, True),
        "ssl.keystore.password": ("file", True, False), "ssl.key.pem": ("command", True, True),
    }  # fmt: skip


LOGINS = {
    "jaas": {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.jaas.config": {"env": "NOT_SET"}},
    "scram": {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "me",
              "sasl.password": {"env": "NOT_SET"}},
    "oauth": {"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER",
              "sasl.oauthbearer.token.endpoint.url": "https://idp/token",
              "sasl.oauthbearer.client.credentials.client.id": "me",
              "sasl.oauthbearer.client.credentials.client.secret": {"env": "NOT_SET"}},
    "tls": {"security.protocol": "SSL", "ssl.keystore.type": "PEM", "ssl.keystore.key": {"file": "key"},
            "ssl.keystore.certificate.chain": {"file": "chain"}},
    "number": {"request.timeout.ms": {"env": "NOT_SET"}},
}  # fmt: skip


@pytest.mark.parametrize("properties", LOGINS.values(), ids=LOGINS.keys())
def test_a_context_is_checked_without_its_secrets(rig: Rig, properties: dict[str, object]) -> None:
    rig.write(json.dumps({"contexts": {"a": {"bootstrap_server": "k:1", "properties": properties}}}))
    answer = rig("context show a --output json")
    assert (answer.status, answer.document["errors"]) == (0, [])


def test_show_says_what_a_client_would_complain_of(rig: Rig) -> None:
    rig.write("contexts:\n  a:\n    bootstrap_server: k:1\n    properties:\n      sasl.pasword: {env: PW}\n")
    position = f"{rig.file}, line 5, column 21: the context a"
    rig("context show a").assert_said(3, f"{position}: 'sasl.pasword' is not a Kafka client property;")


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_file_with_secrets_that_others_may_read(rig: Rig, mode: int) -> None:
    text = f"current: a\ncontexts:\n  a:\n    bootstrap_server: k:1\n    properties: {{sasl.password: {SECRET}}}\n"
    rig.write(text, mode=mode)
    for line in ("list", "context list", "context use a", "context add b -b k:1"):
        answer = rig(line)
        answer.assert_refused(f"Run: chmod 600 {rig.file}\n", status=3)
        assert SECRET not in answer.stderr
    assert rig.file.read_text() == text
    rig.file.chmod(0o600)
    assert rig("context list").status == 0


def test_a_file_that_anybody_may_write(rig: Rig) -> None:
    rig.write(TWO, mode=0o646)
    said = f"kohort: {rig.file}: any user can write to this file. Run: chmod o-w {rig.file}\n"
    assert rig("context list") == Answer(status=3, stdout="", stderr=said)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_somebody_else(rig: Rig, tmp_path: Path) -> None:
    rig.write(TWO)
    os.chown(rig.file, 4711, 4711)
    for line in ("list", "context list", "context use staging"):
        rig(line).assert_refused("the file belongs to another user", status=3)
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    os.chown(secret, 4711, 4711)
    answer = rig("context add b -b k:1 --secret-file", f"sasl.password={secret}")
    answer.assert_said(3, "this secret belongs to another user")


def test_what_is_no_regular_file(rig: Rig) -> None:
    rig.file.parent.mkdir()
    os.mkfifo(rig.file)
    rig("context list").assert_said(3, "this is not a regular file")
    rig.file.unlink()
    rig.file.mkdir()
    rig("list").assert_said(3, "this is not a regular file")
    assert rig("context list", KOHORT_CONFIG=os.devnull).stderr == ""


def test_nothing_is_written_in_the_place_of_a_device(rig: Rig, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (os.devnull, str(pipe)):
        before = os.stat(path)
        rig("context add a -b k:1", KOHORT_CONFIG=path).assert_refused("not a regular file", status=3)
        assert os.path.samestat(before, os.stat(path))


def test_a_linked_file_stays_where_it_is(rig: Rig, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles" / "kohort.yaml"
    kept.parent.mkdir()
    kept.write_bytes(b"\xef\xbb\xbf" + TWO.encode())
    rig.file.parent.mkdir()
    rig.file.symlink_to(kept)
    assert rig("context use staging").status == 0
    assert kept.read_bytes() == b"\xef\xbb\xbf" + TWO.encode()
    assert rig.texts["current"] == "staging\n"


def test_removing_shows_first(rig: Rig) -> None:
    rig("context add eu -b k:1 --secret sasl.password --use", stdin=SECRET)
    secret = rig.directory.parent / "secrets" / "eu.sasl.password"
    before = rig.texts
    answer = rig("context remove eu --output json").succeeded()
    assert (answer.document["secret_files"], answer.document["executed"]) == ([str(secret)], False)
    assert "nothing was changed. Add --execute to make the change" in answer.stderr
    assert (rig.texts, secret.exists()) == (before, True)
    answer = rig("context remove eu --execute --yes").succeeded()
    assert "no context is current afterwards" in answer.stdout
    assert f"removed the context eu from {rig.directory}" in answer.stderr
    assert (rig.texts, secret.exists()) == ({}, False)


def test_removing_leaves_what_others_use(rig: Rig, tmp_path: Path) -> None:
    rig("context add eu -b k:1 --secret sasl.password", stdin=SECRET)
    kept = rig.directory.parent / "secrets" / "eu.sasl.password"
    file = tmp_path / "own"
    file.write_text(SECRET)
    file.chmod(0o600)
    rig("context add us -b k:1 --secret-file", f"sasl.password={kept}")
    rig("context add cn -b k:1 --secret-file", f"sasl.password={file}")
    for name in ("eu", "cn"):
        assert rig("context remove", name, "--execute", "--yes").status == 0
    assert (kept.exists(), file.exists()) == (True, True)
    # A new context of the old name gets its own file.
    rig("context add eu -b k:1 --secret sasl.password", stdin="neu")
    assert (kept.read_text(), (kept.parent / "eu.sasl.password-2").read_text()) == (f"{SECRET}\n", "neu\n")


def test_a_protected_context_is_removed_by_name(rig: Rig) -> None:
    rig.write(TWO)
    for options in (["--yes"], [], ["--confirm", "staging"]):
        answer = rig("context remove production --execute", *options)
        assert (answer.status, rig.file.read_text()) == (2, TWO)
    assert rig("context remove production --execute --confirm production").status == 0
    assert rig.texts == {"staging.yaml": 'bootstrap_server: "staging:9092"\n'}


def test_many_at_once(rig: Rig) -> None:
    rig.write(TWO)
    names = [f"c{number}" for number in range(8)]
    add = [rig.kohort.executable, "context", "add", "--use", "-b"]
    running = [
        subprocess.Popen([*add, f"{name}:9092", name], env=rig.environment, stderr=subprocess.DEVNULL)
        for name in names
    ]
    assert [process.wait(60) for process in running] == [0] * len(names)
    assert sorted(rig.texts) == sorted(
        ["current", *(f"{name}.yaml" for name in (*names, "production", "staging"))]
    )
    assert rig.texts["current"].strip() in names
    assert sorted(file.name for file in rig.directory.parent.iterdir()) == ["config.d", "config.yaml.bak"]


@pytest.mark.kafka
def test_a_context_with_a_cluster_id_refuses_every_other_cluster(rig: Rig, broker: Broker) -> None:
    rig("context add mine --cluster-id", CLUSTER_ID, "-b", broker.bootstrap).assert_said(0)
    rig("context add other --cluster-id another -b", broker.bootstrap).assert_said(0)
    assert rig("list --context mine").status == 0
    refusal = f"{broker.bootstrap} is the cluster {CLUSTER_ID}, and the context is for another. Check its"
    for line in ("list", "config set g consumer.session.timeout.ms=45000", "delete g --execute --yes"):
        rig(f"{line} --context other").assert_refused(refusal, status=3)
    assert rig("context show other --output json").document["cluster_id"] == "another"
