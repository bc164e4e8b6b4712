"""Files and environments that a command meets in the field: endless, of another kind, or in another encoding."""

import csv
import io
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cli.command import Kohort

ENDLESS = (
    "list --snapshot", "validate-regex --file", "apply", "simulate", "diagnose --replay",
    "plan billing --to consumer --embedded {sample} --clients",
)  # fmt: skip
NAMES = ("grüße €😀", "=1+1", "-1", "+x", "@x", "'=x", "-", "plain")
GROUP = {
    "type": "classic", "state": "Empty", "protocol_type": "consumer", "offsets": {"t": {0: {"offset": 1}}},
}  # fmt: skip
TOPICS = {"t": {"partitions": 1, "end_offsets": {0: 5}}}
SNAPSHOT = {"kohort": 1, "topics": TOPICS, "groups": dict.fromkeys(NAMES, GROUP)}


@pytest.fixture(scope="module")
def odd_names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a snapshot of groups whose ids are formulas, or not ASCII."""
    file = tmp_path_factory.mktemp("odd") / "snapshot.json"
    file.write_text(json.dumps(SNAPSHOT))
    return file


@pytest.mark.parametrize("line", ENDLESS)
def test_an_endless_file_is_refused_by_its_size(kohort: Kohort, sample: Path, line: str) -> None:
    answer = kohort.quick(line.replace("{sample}", str(sample)), "/dev/zero")
    assert answer.status in (2, 3), answer
    assert not answer.traceback


def test_a_stated_bound_ends_endless_input(kohort: Kohort, sample: Path) -> None:
    for line, bound in (
        ("offsets import /dev/zero billing", "256 MiB"),
        ("list --topics /dev/zero", "512 MiB"),
        ("list --command-config /dev/zero -b b:1", "1 MiB"),
    ):
        source = [] if "-b" in line else ["--embedded" if "billing" in line else "--log-dir", sample]
        kohort.quick(line, *source).assert_refused(f"more than {bound}", status=3)


@pytest.mark.parametrize("is_endless", [False, True])
def test_a_segment_is_a_file(kohort: Kohort, sample: Path, tmp_path: Path, is_endless: bool) -> None:
    log = shutil.copytree(sample, tmp_path / "log")
    full = next(file for file in log.glob("__consumer_offsets-*/*.log") if file.stat().st_size)
    full.unlink()
    if is_endless:
        full.symlink_to("/dev/zero")
    else:
        os.mkfifo(full)
        (log / "meta.properties").unlink(missing_ok=True)
        os.mkfifo(log / "meta.properties")
    for line in ("list --log-dir", "log verify"):
        kohort.quick(line, log).assert_said(3, f"{full}: cannot be read: it is not a regular file")


@pytest.mark.parametrize("output", ["table", "json", "yaml", "csv", "markdown", "html"])
def test_an_encoding_without_a_character_escapes_it(kohort: Kohort, odd_names: Path, output: str) -> None:
    ascii_only = {**kohort.env, "PYTHONIOENCODING": "ascii"}
    words = [kohort.executable, "list", "--snapshot", str(odd_names), "--output", output]
    done = subprocess.run(words, env=ascii_only, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode("ascii")
    if output in ("json", "yaml"):
        groups = yaml.safe_load(text)["groups"] if output == "yaml" else json.loads(text)["groups"]
        assert {group["group"] for group in groups} == {*NAMES}
    else:
        assert ("&#8364;" if output == "html" else "\\u20ac") in text


def test_an_export_is_utf_8_and_imports_every_id(kohort: Kohort, odd_names: Path, tmp_path: Path) -> None:
    ascii_only = {**kohort.env, "PYTHONIOENCODING": "ascii"}
    words = [kohort.executable, "offsets", "export", "--all-groups", "--snapshot", str(odd_names)]
    exported = subprocess.run(words, env=ascii_only, capture_output=True, check=True).stdout
    file = tmp_path / "offsets.csv"
    file.write_bytes(exported)
    assert [row[0] for row in csv.reader(io.StringIO(exported.decode())) if row] == sorted(NAMES)
    imported = kohort.quick("offsets import --output json", file, "--snapshot", odd_names)
    assert {row["group"] for row in imported.document["groups"]} == {*NAMES}


def test_csv_has_no_formulas_and_keeps_numbers(kohort: Kohort, odd_names: Path) -> None:
    cells = {row["GROUP"] for row in kohort.quick("list --output csv --snapshot", odd_names).rows}
    assert cells == {"grüße €😀", "'=1+1", "-1", "'+x", "'@x", "''=x", "-", "plain"}


def test_serve_needs_files_for_its_data_and_says_how_many(kohort: Kohort, tmp_path: Path) -> None:
    line = f"ulimit -n 64; exec {kohort.executable} serve --listen 127.0.0.1:0 --data {tmp_path}/data"
    done = subprocess.run(
        ["/bin/sh", "-c", line], env=kohort.env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "may open 64 files, and --data needs 512: run `ulimit -n 1024`" in done.stderr


@pytest.mark.parametrize(
    "line", ["hunter2", "correct horse battery", "c2VjcmV0cw==", "s3cret.pass", "  pa\\ ss  "]
)
def test_a_secret_alone_on_a_line_is_not_printed(kohort: Kohort, tmp_path: Path, line: str) -> None:
    file = tmp_path / "client.properties"
    file.write_text(f"bootstrap.servers=127.0.0.1:1\nsasl.password=\n{line}\n")
    answer = kohort.quick("list --timeout 500 --command-config", file)
    answer.assert_said(3, "line 3")
    assert not any(word.strip("=\\") in answer.stderr for word in line.split())


def test_a_token_command_of_a_file_that_all_may_write_is_not_run(kohort: Kohort, tmp_path: Path) -> None:
    file, ran = tmp_path / "client.properties", tmp_path / "ran"
    file.write_text(
        "bootstrap.servers=127.0.0.1:1\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
        f"kohort.token.command=touch {ran}\n"
    )
    file.chmod(0o666)
    answer = kohort.quick("list --timeout 500 --command-config", file)
    answer.assert_refused(f"any user can write to this file. Run: chmod o-w {file}", status=3)
    assert not ran.exists()
