"""Reading from a broker with TLS, SASL and an authorizer; no password is heard of."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pipeline.sources.client_properties import client_options
from pipeline.sources.cluster import ClusterUnreadable
from tests.coordinator.store.real_log_story import ORDERS, commit
from tests.kafka.secure import PASSWORDS, SCRAM_PASSWORDS, SecureBroker
from tests.kafka.topics import create_topics
from tests.pipeline.decoded import live_events
from tests.support.long import LONG
from wire.client.config.properties import read_properties

pytestmark = [pytest.mark.kafka, LONG]

FILES: dict[str, tuple[str, str]] = {
    "plain over TLS, as Java has it": (
        "SASL_SSL",
        "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nssl.truststore.type=PEM\n"
        "ssl.truststore.location={files}/ca.pem\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
        'username="kohort" password="{kohort}";',
    ),
    "scram, as librdkafka has it": (
        "SASL_PLAINTEXT",
        "security.protocol=sasl_plaintext\nsasl.mechanisms=SCRAM-SHA-512\nsasl.username=bob\nsasl.password={bob}",
    ),
    "a certificate and a key": (
        "MUTUAL",
        "security.protocol=ssl\nssl.ca.location={files}/ca.pem\nssl.certificate.location={files}/client.pem\n"
        "ssl.key.location={files}/client.pk8",
    ),
}
STRANGER = """\
security.protocol=SASL_SSL
ssl.ca.location={files}/ca.pem
sasl.mechanism=PLAIN
sasl.username=stranger
sasl.password={stranger}
"""
"""Whose password has a quote and a backslash in it."""
TIMEOUTS = "\ndefault.api.timeout.ms=30000\nrequest.timeout.ms=20000\n"


@pytest.fixture(scope="module")
def guarded(secure: SecureBroker) -> SecureBroker:
    create_topics(secure.broker, {ORDERS: 1})
    commit(secure.broker, "guarded", ORDERS, {0: 7})
    secure.allow("bob", "topic", "__consumer_offsets", "READ")
    secure.allow("bob", "group", "kohort-", "DESCRIBE", prefixed=True)
    return secure


def _file(tmp_path: Path, guarded: SecureBroker, name: str) -> Path:
    text = STRANGER if name == STRANGER else FILES[name][1]
    secrets = {
        "kohort": PASSWORDS["kohort"],
        "bob": SCRAM_PASSWORDS["bob"],
        "stranger": PASSWORDS["stranger"].replace("\\", "\\\\"),
    }
    file = tmp_path / "client.properties"
    file.write_text(text.format(files=guarded.files, **secrets) + TIMEOUTS, encoding="utf-8")
    return file


@pytest.mark.parametrize("name", FILES)
def test_a_properties_file_opens_the_topic(
    live_spark: SparkSession, guarded: SecureBroker, tmp_path: Path, name: str
) -> None:
    options = client_options(read_properties(_file(tmp_path, guarded, name)))
    live = live_events(live_spark, guarded.at(FILES[name][0]), options)
    rows = live.where("`group` = 'guarded' and kind = 'offset'").select("topic", "committed").collect()
    assert [tuple(row) for row in rows] == [(ORDERS, 7)]


def test_a_client_that_may_not_see_the_topic_gets_an_error(
    live_spark: SparkSession, guarded: SecureBroker, tmp_path: Path
) -> None:
    file = _file(tmp_path, guarded, STRANGER)
    with pytest.raises(ClusterUnreadable, match="the client lacks DESCRIBE and READ on __consumer_offsets"):
        live_events(live_spark, guarded.at("SASL_SSL"), client_options(read_properties(file)))


def test_a_wrong_password_is_reported_and_not_shown(
    live_spark: SparkSession, guarded: SecureBroker, tmp_path: Path
) -> None:
    file = _file(tmp_path, guarded, "scram, as librdkafka has it")
    file.write_text(file.read_text().replace(SCRAM_PASSWORDS["bob"], "wrong-pass-word"))
    with pytest.raises(ClusterUnreadable, match="SaslAuthenticationException") as refused:
        live_events(live_spark, guarded.at("SASL_PLAINTEXT"), client_options(read_properties(file)))
    assert "wrong-pass-word" not in str(refused.value)


def test_a_client_that_may_not_describe_groups_gets_an_error(
    live_spark: SparkSession, guarded: SecureBroker, tmp_path: Path
) -> None:
    options = client_options(read_properties(_file(tmp_path, guarded, "scram, as librdkafka has it")))
    with pytest.raises(
        ClusterUnreadable, match="the client lacks DESCRIBE on groups with the prefix kohort-"
    ):
        live_events(live_spark, guarded.at("SASL_PLAINTEXT"), options | {"kafka.group.id": "not-allowed"})


READER = """
import sys
from pathlib import Path
from pipeline.session import SessionSettings, session
from pipeline.sources.client_properties import client_options
from pipeline.sources.jars import kafka_jars
from pipeline.live import live_reading
from pipeline.tables.schemas import DECODED, decoded_arrow
from wire.client.config.properties import read_properties
conf = {"spark.driver.memory": "1g", "spark.eventLog.enabled": "true", "spark.eventLog.dir": sys.argv[3]}
conf["spark.eventLog.compress"] = "false"
settings = SessionSettings(master="local[2]", jars=kafka_jars(), conf=conf, verbose=True, input_bytes=0)
with session(settings) as spark:
    found = live_reading(spark, sys.argv[1], client_options(read_properties(Path(sys.argv[2]))))
    live = found.through(lambda batches: (each.cast(decoded_arrow()) for each in batches), DECODED)
    live.explain(True)
    print("records:", live.count())
"""


def test_no_log_of_sparks_has_a_password(
    guarded: SecureBroker, source_jars: tuple[str, ...], tmp_path: Path
) -> None:
    assert source_jars
    file = _file(tmp_path, guarded, "plain over TLS, as Java has it")
    log = tmp_path / "event-log"
    log.mkdir()
    said = subprocess.run(
        [sys.executable, "-c", READER, guarded.at("SASL_SSL"), str(file), log.as_uri()],
        check=False, capture_output=True, text=True, timeout=250, env=os.environ,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr[-3000:]
    assert "records: " in said.stdout
    assert "ConsumerConfig values" in said.stderr
    logs = [path.read_text(errors="replace") for path in log.rglob("*") if path.is_file()]
    assert any("SparkListenerApplicationEnd" in text for text in logs)
    texts = [said.stdout, said.stderr, *logs]
    assert not any(PASSWORDS["kohort"] in text for text in texts)
