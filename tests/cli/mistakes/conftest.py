"""A working directory with files that are wrong, each in its own way."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from tests.cli.command import Kohort

WRONG_FILES = {
    "empty.yaml": "",
    "broken.yaml": "kohort: 1\ngroups: [\n",
    "broken.json": '{"kohort": 1,\n "command": "plan"\n "group": "a"}\n',
    "noise.yaml": "\x00\x01\x02",
    "list.yaml": "- a\n- b\n",
    "newer.yaml": "kohort: 99\ncommand: plan\n",
    "newer-groups.yaml": "kohort: 99\ngroups: {}\n",
    "newer-scenario.yaml": "kohort: 99\nmembers: {}\n",
    "unknown-event.yaml": (
        "kohort: 1\ntopics: {orders: 2}\nmembers: {a: {topics: [orders]}}\nevents:\n  - {at: 0, strat: a}\n"
    ),
    "unknown-member.yaml": (
        "kohort: 1\ntopics: {orders: 2}\nmembers: {a1: {topics: [orders]}}\nevents:\n  - {at: 0, start: a2}\n"
    ),
    "unknown-assignor.yaml": (
        "kohort: 1\ntopics: {orders: 2}\nmembers: {a: {topics: [orders], assignors: [stiky]}}\nevents: []\n"
    ),
    "unknown-key.yaml": "kohort: 1\ngroups:\n  billing: {ofsets: {}}\n",
    "offsets.csv": "orders,0\n",
    "offsets-text.csv": "orders,zero,17\n",
    "unknown-key.properties": "security.protocol=SASL_SSL\nsasl.mecanism=PLAIN\n",
    "unknown-protocol.properties": "security.protocol=TLS\n",
    "unknown-mechanism.properties": "security.protocol=SASL_SSL\nsasl.mechanism=PLIAN\n",
    "no-password.properties": "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=a\n",
    "no-equals.properties": "security.protocol SASL_SSL extra\nsasl.jaas.config=nonsense\n",
    "missing-ca.properties": "security.protocol=SSL\nssl.ca.location=/no/such/ca.pem\n",
    "not-a-ca.properties": "security.protocol=SSL\nssl.ca.location=empty.yaml\n",
    "config.yaml": (
        "contexts:\n  staging: {bootstrap_server: localhost:9092}\n"
        "  production: {bootstrap_server: kafka:9093, protected: true}\n"
    ),
    "broken-config.yaml": "contexts:\n  staging: {bootstrap_servers: localhost:9092}\n",
    "home-config.yaml": "current: a\ncontexts: {a: {snapshot: ~/saved.yaml}}\n",
    "latin.properties": "client.id=a\nsasl.username=m\udcfcller\n",
    "topic-id.yaml": "orders: not-an-id\n",
    "topic-partitions.yaml": f"orders: {{id: {UUID(int=1 << 100)}, partitions: none}}\n",
    "topic-bare.yaml": "kohort: 1\ntopics: {orders: {partitions: 1}}\n",
    "topic-empty.yaml": "kohort: 1\ntopics: {orders: {}}\n",
    "pod.yaml": "apiVersion: v1\nkind: Pod\n",
    "bytes.yaml": bytes(range(256)).decode(errors="surrogateescape"),
    "version.yaml": "kohort: one\n",
    "cut.yaml": 'kohort: 1\ngroups: {"a',
    "tab.yaml": "kohort: 1\ngroups:\n\tg: {}\n",
    "twice.yaml": "kohort: 1\ngroups: {}\ngroups: {}\n",
    "groups-list.yaml": "kohort: 1\ngroups: [a]\n",
    "type.yaml": "kohort: 1\ngroups:\n  g:\n    type: clasic\n",
    "member-twice.yaml": "kohort: 1\ngroups:\n  g:\n    members:\n      - id: a\n      - id: a\n",
    "long.yaml": "# " + "x" * 2**20,
    "users.yaml": "users: [",
    "contexts.d/staging.yaml": "bootstrap_server: k:1\n",
}


@pytest.fixture(scope="package")
def places(
    kohort: Kohort, sample: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    home, here = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("here")
    (home / "kohort").symlink_to(sample)
    for name in ("directory", "with-file", "contexts.d"):
        (here / name).mkdir()
    for name, text in WRONG_FILES.items():
        (here / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    (here / "with-file" / "notes.txt").write_text("mine\n")
    for file, line in {
        "plan.yaml": "plan billing --to cooperative --client java:3.7.0 --output yaml",
        "groups.yaml": "snapshot",
    }.items():
        answer = kohort.quick(line, "--embedded", sample)
        (here / file).write_text(answer.stdout, encoding="utf-8")
    yield {
        "config": str(tmp_path_factory.mktemp("config")),
        "data": f"{home}/kohort",
        "home": str(home),
        "here": str(here),
        "sample": str(sample),
    }
    assert not (here / "new.d").exists()
    assert [file.name for file in (here / "contexts.d").iterdir()] == ["staging.yaml"]


@pytest.fixture
def here(places: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Give the places, in the directory with the files; the sample fleet is the default source."""
    monkeypatch.chdir(places["here"])
    monkeypatch.setenv("XDG_DATA_HOME", places["home"])
    monkeypatch.setenv("XDG_CONFIG_HOME", places["config"])
    return places
