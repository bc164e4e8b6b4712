"""Contexts of a real cluster: every way to name it, secrets from where they are kept, and protection from changes."""

import json
from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.cli.contexts import Rig
from tests.cli.offset_rig import OffsetRig
from tests.kafka.broker import RunningBroker
from tests.kafka.secure import SCRAM_PASSWORDS, SecureBroker


@pytest.fixture
def rig(kohort: Kohort, tmp_path: Path) -> Rig:
    return Rig(kohort=kohort, home=tmp_path)


@pytest.fixture(scope="module")
def topic(session_rig: OffsetRig) -> str:
    return session_rig.topic([1])


@pytest.fixture
def group(session_rig: OffsetRig, topic: str) -> str:
    return session_rig.group({(topic, 0): 1})


def contexts(broker: RunningBroker, *, current: str, protected: bool = False) -> str:
    entry = {"bootstrap_server": broker.bootstrap}
    named = {"production": {**entry, "protected": protected}, "staging": entry}
    return json.dumps({"current": current, "contexts": named})


def test_a_preview_says_where(rig: Rig, broker: RunningBroker, group: str, tmp_path: Path) -> None:
    properties = tmp_path / "client.properties"
    properties.write_text(f"bootstrap.servers={broker.bootstrap}\n")
    rig.write(contexts(broker, current="production", protected=True))
    where = broker.bootstrap
    for arguments, env, target in (
        ([], {}, f"the context production (the current one of {rig.file}, protected): {where}"),
        ([], {"KOHORT_CONTEXT": "staging"}, f"the context staging (KOHORT_CONTEXT): {where}"),
        (["--context", "staging"], {}, f"the context staging (--context): {where}"),
        ([], {"KOHORT_BOOTSTRAP_SERVER": where}, f"{where} (KOHORT_BOOTSTRAP_SERVER)"),
        ([], {"KOHORT_COMMAND_CONFIG": str(properties)}, f"{where} (KOHORT_COMMAND_CONFIG)"),
    ):
        for command in (["delete", group], ["config", "set", group, "consumer.session.timeout.ms=45000"]):
            answer = rig(*command, *arguments, "--output", "json", **env)
            assert (answer.status, answer.document["executed"]) == (0, False)
            assert f"kohort: the target is {target}" in answer.stderr.splitlines()
    answer = rig("delete", group, "-b", where)
    assert (answer.status, answer.stderr.count("\n")) == (0, 1)


def test_a_protected_context_wants_its_name_typed(rig: Rig, session_rig: OffsetRig, group: str) -> None:
    rig.write(contexts(session_rig.broker, current="production", protected=True))
    for answer in ("yes", "y", "", "staging", "PRODUCTION"):
        status, said = rig.on_terminal("delete", group, "--execute", answers=[answer])
        assert (status, "nothing was changed" in said) == (1, True)
        assert f"the target is the context production (the current one of {rig.file}, protected)" in said
        assert "production is protected. Type its name to continue: " in said
    assert session_rig.committed(group)
    status, said = rig.on_terminal("delete", group, "--execute", answers=["production"])
    assert (status, f"deleted {group}" in said) == (0, True)
    assert not session_rig.committed(group)


def test_a_script_writes_the_name(rig: Rig, session_rig: OffsetRig, group: str) -> None:
    rig.write(contexts(session_rig.broker, current="production", protected=True))
    where = session_rig.broker.bootstrap
    for options, reason in (
        ("staging", "--confirm names the context staging, but the change is for the context"),
        ("production --context staging", "the change is for the context staging (--context)"),
        (f"production -b {where}", "the change is for a source without a context"),
    ):
        rig(f"delete {group} --execute --confirm {options}").assert_said(2, reason)
    rig(f"delete {group} --confirm production").assert_said(2, "without --execute nothing is changed")
    assert session_rig.committed(group)
    rig(f"delete {group} --execute --confirm production").assert_said(0, f"deleted {group}")
    assert not session_rig.committed(group)


def scram(secure: SecureBroker, password: str) -> str:
    return (
        "current: secure\ncontexts:\n  secure:\n"
        f"    bootstrap_server: {secure.at('SASL_SSL')}\n    properties:\n"
        "      security.protocol: SASL_SSL\n      sasl.mechanism: SCRAM-SHA-512\n      sasl.username: kohort\n"
        f"      sasl.password: {password}\n      ssl.truststore.type: PEM\n"
        f"      ssl.truststore.location: {secure.files / 'ca.pem'}\n"
    )


def test_a_secret_comes_from_where_it_is_kept(rig: Rig, secure: SecureBroker, tmp_path: Path) -> None:
    password = SCRAM_PASSWORDS["kohort"]
    kept = tmp_path / "password"
    kept.write_text(f"{password}\n")
    kept.chmod(0o600)
    for where in ("{env: PASSWORD}", f"{{file: {kept}}}", f"{{command: cat {kept}}}", password):
        rig.write(scram(secure, where))
        answer = rig("list --output json", PASSWORD=password).succeeded()
        assert password not in answer.stdout + answer.stderr
        # Topics and their ends come over the AdminClient where that is the only one who can tell.
        assert rig("validate-regex", "^a", PASSWORD=password).status == 0
        assert ("contains secrets of the context secure (sasl.password)" in answer.stderr) is (
            where == password
        )


def test_a_secret_that_cannot_be_had(rig: Rig, secure: SecureBroker, tmp_path: Path) -> None:
    rig.write(scram(secure, "{env: PASSWORD}"))
    position = f"{rig.file}, line 9, column 22"
    kept_in = f"{position}: sasl.password is kept in the environment variable PASSWORD"
    rig("list").assert_refused(kept_in, status=3)
    answer = rig("list", PASSWORD="wrong")
    assert (answer.status, answer.stdout, "wrong" in answer.stderr) == (4, "", False)
    for command, reason in (
        ("sh -c 'echo log in first >&2; exit 3'", "the command sh failed (exit status 3): log in first."),
        ("true", "the command true printed nothing."),
        ("no-such-command", "cannot be run: No such file or directory."),
    ):
        rig.write(scram(secure, f'{{command: "{command}"}}'))
        rig("list").assert_refused(f"{position}: sasl.password", reason, status=3)
    kept = tmp_path / "password"
    rig.write(scram(secure, f"{{file: {kept}}}"))
    for content, mode, reason in (
        (None, 0, f"{kept}: the file of a secret does not exist"),
        ("x", 0o644, f"{kept}: other users can read this secret. Run: chmod 600 {kept}"),
        ("x", 0o640, "other users can read this secret"),
        ("\n", 0o600, "this file contains no secret"),
        ("\x00", 0o600, "this file contains no secret"),
        ("x" * 70_000, 0o600, "more than 65536 bytes"),
    ):
        if content is not None:
            kept.write_text(content)
            kept.chmod(mode)
        rig("list").assert_refused(reason, status=3)


def test_a_secret_is_typed_and_not_shown(rig: Rig, secure: SecureBroker) -> None:
    password = SCRAM_PASSWORDS["kohort"]
    status, said = rig.on_terminal(
        "context add secure", "-b", secure.at("SASL_SSL"), "--use",
        "--property", "security.protocol=SASL_SSL", "--property", "sasl.mechanism=SCRAM-SHA-512",
        "--property", "sasl.username=kohort", "--property", f"ssl.ca.location={secure.files / 'ca.pem'}",
        "--secret", "sasl.password", answers=[password]
    )  # fmt: skip
    assert (status, "sasl.password (not shown): " in said, password in said) == (0, True, False), said
    assert rig("list").status == 0
