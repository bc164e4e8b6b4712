"""The configuration file of contexts: what is read, and what is refused with its line and column."""

from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.errors import UsageError
from cli.render.output_format import OutputFormat
from cli.sources.contexts import model
from cli.sources.contexts.read import read_single
from tests.support.long import cases
from wire.client.config.config_file import ConfigFileError

FILE = Path("/etc/kohort/config.yaml")

WHOLE = """\
# the clusters
kohort: 1
current: production
contexts:
  production:
    bootstrap_server: [kafka-1:9093, "kafka-2:9093"]
    properties:
      security.protocol: SASL_SSL
      sasl.password: {env: KAFKA_PASSWORD}
      ssl.key.password: {file: keys/pass}
    timeout_ms: 10s
    output: json
    protected: true
  "on": {command_config: ~/client.properties}
  0123: {snapshot: saved.yaml}
  disk:
    log_dirs: [/data/1, data/2]
    as_of: 2026-03-01T12:00:00Z
    topics: topics.txt
  demo: {embedded: demo}
"""


def test_a_whole_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    contexts, etc = read_single(FILE, WHOLE), Path("/etc/kohort")
    values = (
        model.PropertyValue(key="security.protocol", store=model.ValueStore.LITERAL, text="SASL_SSL"),
        model.PropertyValue(key="sasl.password", store=model.ValueStore.ENVIRONMENT, text="KAFKA_PASSWORD"),
        model.PropertyValue(
            key="ssl.key.password", store=model.ValueStore.FILE, text="/etc/kohort/keys/pass"
        ),
    )
    expected: dict[str, dict[str, Any]] = {
        "production": {
            "kind": model.SourceKind.LIVE, "bootstrap_server": "kafka-1:9093,kafka-2:9093", "timeout_ms": 10_000,
            "protected": True, "output": OutputFormat.JSON, "properties": values,
        },
        "on": {"kind": model.SourceKind.LIVE, "command_config": Path("/home/somebody/client.properties")},
        "0123": {"kind": model.SourceKind.SNAPSHOT, "snapshot": etc / "saved.yaml"},
        "disk": {
            "kind": model.SourceKind.LOG, "log_dirs": (Path("/data/1"), etc / "data/2"), "topics": etc / "topics.txt",
            "as_of": "2026-03-01T12:00:00Z",
        },
        "demo": {"kind": model.SourceKind.EMBEDDED, "embedded": etc / "demo"},
    }  # fmt: skip
    origin = model.ContextOrigin(file=FILE, text="", steps=())
    assert contexts.current == "production"
    assert dict(contexts.by_name) == {
        name: model.Context(name=name, origin=origin, **fields) for name, fields in expected.items()
    }
    assert [value.is_secret for value in values] == [False, True, True]


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "contexts:\n", "contexts: {}\ncurrent: ~\n", "---\n", "{}"]
)
def test_no_contexts(text: str) -> None:
    contexts = read_single(FILE, text)
    assert (contexts.current, dict(contexts.by_name)) == (None, {})


A = "contexts:\n  a:\n    bootstrap_server: k:1\n"
"""The beginning of a file that is all right so far."""

REFUSED = {
    "unknown-key": ("contxts: {}", 1, 10, "contxts: not a key of the file; did you mean contexts?"),
    "unknown-setting": (A + "    protcted: true", 4, 15, "unknown field; did you mean protected?"),
    "dashes": ("contexts: {a: {bootstrap-server: a:1}}", 1, 34, "did you mean bootstrap_server?"),
    "twice": ("contexts:\n  a: {snapshot: s}\n  a: {snapshot: t}", 3, 3, "the key 'a' is listed twice"),
    "colon": ("contexts:\n  a: b: c", 2, 7, "not YAML or JSON: mapping values are not allowed"),
    "open-quote": ('contexts:\n  a: "b', 2, 8, "found unexpected end of stream"),
    "alias": ("contexts: &all {}", 1, 11, "anchors, aliases and tags"),
    "no-anchor": ("contexts: *all", 1, 11, "anchors, aliases and tags"),
    "tag": ("contexts: !!python/object:os.system {}", 1, 11, "anchors, aliases and tags"),
    "two-documents": ("contexts: {}\n---\ncontexts: {}", 2, 1, "a second YAML document"),
    "list": ("- a", 1, 1, "the file must be a mapping"),
    "list-key": ("[a]: b", 1, 1, "a key that is not a plain word"),
    "null-context": ("contexts:\n  a:", 2, 5, "the context a must be a mapping"),
    "format": ("kohort: 2", 1, 9, "this version reads 1"),
    "current": ("current: b\n" + A, 1, 10, "there is no such context; the file contains a."),
    "current-like": (A.replace(" a:", " production:") + "current: prodction", 4, 10, "did you mean production?"),
    "current-list": ("current: [a]", 1, 10, "there is no such context"),
    "name": ("contexts:\n  a b: {snapshot: s}", 2, 8, "this is not a valid context name: a name consists of"),
    "name-long": (f"contexts: {{{'a' * 65}: {{snapshot: s}}}}", 1, 79, "not a valid context name"),
    "no-source": ("contexts:\n  a: {timeout_ms: 1}", 2, 6, "names no source; add bootstrap_server, command_config"),
    "two-sources": (A + "    snapshot: s", 4, 15, "bootstrap_server and snapshot name different sources"),
    "only-properties": ("contexts: {a: {properties: {a: b}}}", 1, 28, "names no source; add bootstrap_server."),
    "only-as-of": ("contexts: {a: {as_of: -5m}}", 1, 23, "names no source; add log_dirs."),
    "properties-twice": (A + "    command_config: f\n    properties: {}", 5, 17, "cannot be used together"),
    "servers-twice": (A + "    properties: {bootstrap.servers: b:1}", 4, 37, "already set by bootstrap_server"),
    "server": ("contexts: {a: {bootstrap_server: kafka}}", 1, 34, "'kafka' is not a broker address: write it as"),
    "port": (f"contexts: {{a: {{bootstrap_server: 'k:{'9' * 5000}'}}}}", 1, 34, "bootstrap_server: 'k:9999"),
    "no-servers": ("contexts: {a: {bootstrap_server: []}}", 1, 34, "no value is given"),
    "property-list": (A + "    properties: {a: [b]}", 4, 21, "a list is not allowed"),
    "property-store": (A + "    properties: {a: {evn: B}}", 4, 21, "give one of {env: NAME}"),
    "property-stores": (A + "    properties: {a: {env: B, file: c}}", 4, 21, "give one of"),
    "property-missing": (A + "    properties: {a: {}}", 4, 21, "give one of"),
    "property-command": (A + "    properties: {a: {command: \"'b\"}}", 4, 21, "has an unclosed quote"),
    "timeout": (A + "    timeout_ms: soon", 4, 17, "timeout_ms: expected 5s, 1.5m"),
    "timeout-0": (A + "    timeout_ms: 0", 4, 17, "0 is out of range"),
    "output": (A + "    output: jsn", 4, 13, "output: expected one of table, json, yaml"),
    "protected": (A + "    protected: yes", 4, 16, "expected true or false, found 'yes'"),
    "as-of": ("contexts: {a: {log_dirs: d, as_of: noon}}", 1, 36, "as_of: "),
    "many": ("contexts:\n" + "".join(f"  c{n}: {{snapshot: s}}\n" for n in range(1001)), 2, 3, "at most 1000"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_an_invalid_file_is_refused(text: str, line: int, column: int, reason: str) -> None:
    with pytest.raises(ConfigFileError) as refused:
        read_single(FILE, text)
    assert (refused.value.line, refused.value.column) == (line, column), refused.value
    message = str(refused.value)
    assert message.startswith(f"{FILE}, line {line}, column {column}: ")
    assert reason in message
    assert len(message) < 700


@pytest.mark.parametrize(
    "text",
    [
        A + "    properties: {sasl.password: [geheim]}",
        A + "    properties: {sasl.password: {geheim: x, b: c}}".replace("geheim", "https://u:geheim@h"),
        A + '    properties: {sasl.password: "geheim',
        A + "    properties: {sasl.password: {geheim: x}}",
        A + "    properties: {sasl.password: *geheim}",
        A + "    properties: {sasl.password: !geheim}",
        A + "    properties: geheim",
        A + "    properties:\n      sasl.password:\n        geheim:\n",
        A + "    properties: {sasl.password: geheim: x}",
        A + "    properties:\n      sasl.password: geheim\n     sasl.username: x",
        "contexts: {a: {bootstrap_server: 'u:geheim@k:1'}}".replace("u:", "SASL://u:"),
    ],
)
def test_no_message_has_a_secret(text: str) -> None:
    with pytest.raises(ConfigFileError) as refused:
        read_single(FILE, text)
    assert "geheim" not in str(refused.value)


HOSTILE = {
    "deep-flow": "[" * 1_000_000, "deep-mappings": "{a: " * 250_000, "deep-blocks": "- " * 500_000,
    "deep-keys": "? " * 500_000, "indented": "".join(" " * depth + f"a{depth}:\n" for depth in range(1400)),
    "laughs": "a: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(1000)),
    "anchors": "&a " * 300_000, "one-word": "a" * 1_000_000, "one-key": f"{'a' * 1_000_000}: b",
    "one-value": f"current: {'a' * 1_000_000}", "keys": "".join(f"k{number}: v\n" for number in range(90_000)),
    "documents": "---\n" * 250_000,
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_file_ends_soon(text: str) -> None:
    began = process_time()
    with pytest.raises(ConfigFileError) as refused:
        read_single(FILE, text)
    assert len(str(refused.value)) < 400
    # 0.3 s at the most here; an expansion or a stack that grows takes minutes.
    assert process_time() - began < 30


PIECES = st.sampled_from(
    [*WHOLE.splitlines(keepends=True), *"\t\r\n:{}[]&*!#|>'\"%@-?, a\x00", "...", "---", "env", "null"]
)


def faulty_line(text: str) -> int | None:
    """The line that is complained of; None where nothing is. Any other error gets out."""
    try:
        contexts = read_single(FILE, text)
    except ConfigFileError as refused:
        return refused.line
    except UsageError:  # an empty value
        return None
    if contexts.current is not None and contexts.current not in contexts.by_name:
        raise ValueError(f"{contexts.current} is no context")
    return None


@settings(max_examples=cases("KOHORT_EXAMPLES", 75, many=2_000), deadline=None)
@given(st.lists(PIECES | st.text(max_size=4), max_size=30).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    line = faulty_line(text)
    assert line is None or 1 <= line <= len(text) + 1


@settings(max_examples=cases("KOHORT_EXAMPLES", 75, many=2_000), deadline=None)
@given(st.integers(0, len(WHOLE)), st.integers(0, 8), st.text(max_size=3))
def test_a_whole_file_with_a_fault_somewhere(position: int, removed: int, put: str) -> None:
    text = WHOLE[:position] + put + WHOLE[position + removed :]
    line = faulty_line(text)
    assert line is None or 1 <= line <= len(text) + 1


def test_names() -> None:
    assert all(map(model.is_name, ("a", "prod-eu", "a.b_c@d:e+f", "0", "größe", "a" * 64)))
    assert not any(
        map(model.is_name, ("", "-a", ".a", "a b", "a/b", "a\n", "a\t", "a" * 65, "{a}", "a#b", "\x1b[1m"))
    )


def test_every_secret_property_of_kafka_is_known_as_one() -> None:
    from wire.client.config.client_keys import JAVA_KEYS, LIBRDKAFKA_KEYS

    secret = {key for key in JAVA_KEYS | LIBRDKAFKA_KEYS if model.is_secret(key, "")}
    assert secret >= {
        "sasl.jaas.config", "sasl.password", "ssl.key.password", "ssl.key.pem", "ssl.keystore.key",
        "ssl.keystore.password", "ssl.truststore.password", "sasl.oauthbearer.client.secret",
        "sasl.oauthbearer.client.credentials.client.secret", "sasl.oauthbearer.config",
        "sasl.oauthbearer.assertion.private.key.passphrase", "sasl.oauthbearer.assertion.private.key.pem",
    }  # fmt: skip
    public = {"sasl.username", "ssl.ca.pem", "ssl.key.location", "security.protocol", "client.id"}
    assert secret.isdisjoint(public)
    assert model.is_secret("ssl.keystore.certificate.chain", "-----BEGIN PRIVATE KEY-----")
    assert model.is_secret("sasl.oauthbearer.token.endpoint.url", "https://me:geheim@idp/token")
