"""Getting the jars of Spark's Kafka source."""

import shlex
from importlib.metadata import version
from pathlib import Path

import pytest

from pipeline.jvm import MissingSpark
from pipeline.sources.jars import MissingKafkaSource, cache, kafka_jars

SOURCE = f"spark-sql-kafka-0-10_2.13-{version('pyspark')}.jar"
FETCHES = """\
for argument; do
  case $argument in
    -DoutputDirectory=*) mkdir -p "${argument#*=}" && echo jar > "${argument#*=}/source.jar" ;;
    *.xml) cat "$argument" >> "$ASKED" ;;
  esac
done
"""
FAILS = """\
echo '[INFO] Scanning'
echo '[ERROR] Could not transfer artifact: Connection refused'
echo '[ERROR] To see the full stack trace, run with -e'
exit 1
"""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("ASKED", str(tmp_path / "asked.xml"))
    return tmp_path / "asked.xml"


def _maven(tmp_path: Path, does: str) -> None:
    script = tmp_path / "bin" / "mvn"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\nPATH={shlex.quote('/usr/bin:/bin')}\n{does}")
    script.chmod(0o755)


def test_they_are_fetched_once(tmp_path: Path, asked: Path) -> None:
    _maven(tmp_path, FETCHES)
    first = kafka_jars(("mine.jar",))
    assert first == ("mine.jar", str(cache() / "source.jar"))
    assert asked.read_text().count(f"<version>{version('pyspark')}</version>") == 1
    asked.unlink()
    assert kafka_jars(("mine.jar",)) == first
    assert not asked.exists()
    assert [path.name for path in cache().parent.iterdir()] == [cache().name]


@pytest.mark.parametrize("jars", [(f"/lib/{SOURCE}",), ("a.jar", f"hdfs://host/{SOURCE}")])
@pytest.mark.usefixtures("asked")
def test_a_given_source_is_not_fetched_again(jars: tuple[str, ...]) -> None:
    assert kafka_jars(jars) == jars


@pytest.mark.parametrize(
    "conf",
    [
        {"spark.jars": f"/lib/{SOURCE}"},
        {"spark.jars.packages": "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"},
        {"spark.driver.extraClassPath": f"/a/b.jar:/lib/{SOURCE}"},
    ],
)
@pytest.mark.usefixtures("asked")
def test_sparks_own_settings_may_name_the_source(conf: dict[str, str]) -> None:
    assert kafka_jars((), conf) == ()


@pytest.mark.usefixtures("asked")
def test_without_maven_the_message_says_what_to_do() -> None:
    with pytest.raises(MissingKafkaSource) as missing:
        kafka_jars(conf={"spark.jars": "/lib/other.jar"})
    said = str(missing.value)
    assert "there is no mvn on the PATH" in said
    assert "install Maven, or pass its jars with --jars: " in said
    for jar in (SOURCE, "kafka-clients-", "commons-pool2-", "spark-token-provider-kafka-0-10_2.13-"):
        assert jar in said


def test_without_pyspark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.jvm.find_spec", lambda _: None)
    with pytest.raises(MissingSpark, match="pyspark, pyarrow, pandas cannot be imported"):
        kafka_jars()


@pytest.mark.usefixtures("asked")
def test_an_error_of_maven_is_shown_and_nothing_is_left(tmp_path: Path) -> None:
    _maven(tmp_path, FAILS)
    with pytest.raises(
        MissingKafkaSource, match="Could not transfer artifact: Connection refused"
    ) as missing:
        kafka_jars()
    assert "Scanning" not in str(missing.value)
    assert not list(cache().parent.iterdir())
