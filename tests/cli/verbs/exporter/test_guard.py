"""Who may read the metrics, over what; which command lines are refused; what the files look like that are written."""

import base64
import socket
import ssl
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.cli.verbs.exporter.scrapes import Exporter, Figures, exporting
from tests.kafka.wait import wait_until
from tests.wire.client.certificates import make_certificates, need_openssl

SAMPLE = Path(__file__).parents[4] / "cli" / "verbs" / "demo" / "sample.yaml"
SOURCE = ("--snapshot", str(SAMPLE))
ACCESS = "kohort: 1\nusers:\n  prometheus: {password: 'of:the scraper'}\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give certificates, a file of users and one of a token."""
    need_openssl()
    directory = tmp_path_factory.mktemp("guard")
    make_certificates(directory)
    (directory / "access.yaml").write_text(ACCESS)
    (directory / "access.yaml").chmod(0o600)
    (directory / "token").write_text("t0ken\n")
    return directory


def trusting(files: Path, *, certificate: bool = False) -> ssl.SSLContext:
    made = ssl.create_default_context(cafile=files / "ca.pem")
    made.check_hostname = False
    if certificate:
        made.load_cert_chain(files / "client.pem", files / "client.key")
    return made


def status(exporter: Exporter, login: str = "", path: str = "/metrics") -> int:
    exporter.headers = {"Authorization": login} if login else {}
    return exporter.get(path).status


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def test_other_machines_read_over_tls_with_a_login(kohort: Kohort, files: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("t0ken\n")
    options: list[str | Path] = ["--tls-certificate", files / "broker.pem", "--tls-key", files / "broker.key"]
    options += ["--access", files / "access.yaml", "--token-file", token, "--tls-client-ca", files / "ca.pem"]
    # The last of two counts: every address of this machine.
    with exporting(kohort, tmp_path, "--listen", "0.0.0.0:0", *options, *SOURCE) as exporter:
        exporter.url = exporter.url.replace("0.0.0.0", "127.0.0.1")
        assert exporter.url.startswith("https://")
        exporter.tls = trusting(files)
        wait_until(lambda: status(exporter, path="/-/ready") == 200, "ready, without a login")
        assert status(exporter, path="/-/healthy") == 200
        refused = exporter.get("/metrics")
        assert (refused.status, refused.headers["WWW-Authenticate"].split()[0]) == (401, "Basic")
        assert b"kohort_" not in refused.body
        assert status(exporter, path="/") == status(exporter, path="/elsewhere") == 401
        assert status(exporter, basic("prometheus", "of:the scraper")) == 200
        assert status(exporter, "bearer t0ken") == 200
        for wrong in (
            basic("prometheus", "of:the"), basic("other", ""), basic("", ""), "Basic ?", "Basic", "Bearer", "Digest x",
            "Bearer t0ken2", "Basic " + base64.b64encode(b"\xff:\xff").decode(), "Bearer \xfc",
        ):  # fmt: skip
            assert status(exporter, wrong) == 401, wrong
        token.write_text("another\n")
        assert (status(exporter, "Bearer t0ken"), status(exporter, "Bearer another")) == (401, 200)
        token.unlink()
        assert status(exporter, "Bearer another") == 401
        exporter.tls = trusting(files, certificate=True)
        assert status(exporter) == 200
        # Clients without TLS, or silent ones, do not block others.
        host, port = exporter.url.removeprefix("https://").split(":")
        with ExitStack() as silent:
            for _ in range(100):  # more than have a place
                silent.enter_context(socket.create_connection((host, int(port))))
            with socket.create_connection((host, int(port))) as plain:
                plain.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                assert b"kohort_" not in plain.recv(65536)
            assert status(exporter) == status(exporter, path="/-/healthy") == 200
        assert "Traceback" not in exporter.stderr
        assert "t0ken" not in exporter.stderr


def test_a_certificate_is_replaced_once_its_key_is_there(kohort: Kohort, files: Path, tmp_path: Path) -> None:
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"

    def replace(file: Path, source: str) -> None:
        (tmp_path / "new").write_bytes((files / source).read_bytes())
        (tmp_path / "new").replace(file)

    replace(certificate, "broker.pem")
    replace(key, "broker.key")
    options = ("--interval", "1s", "--tls-certificate", certificate, "--tls-key", key)
    with exporting(kohort, tmp_path, *options, *SOURCE) as exporter:
        exporter.tls = trusting(files)
        host, port = exporter.url.removeprefix("https://").split(":")

        def shown() -> str:
            return ssl.get_server_certificate((host, int(port)), timeout=30)

        former = shown()
        replace(certificate, "client.pem")
        wait_until(lambda: "the previous certificate is still used" in exporter.stderr, "it has no key")
        assert shown() == former
        assert status(exporter) == 200
        replace(key, "client.key")
        wait_until(lambda: shown() != former, "the new one is used")
        assert status(exporter) == 200


def test_on_this_machine_everybody_reads(kohort: Kohort, tmp_path: Path) -> None:
    with exporting(kohort, tmp_path, *SOURCE) as exporter:
        wait_until(lambda: exporter.get("/-/ready").status == 200, "ready")
        assert b"/metrics" in exporter.get("/").body
        assert exporter.get("/elsewhere").status == 404
        assert exporter.get("/metrics?name[]=x").status == 200
        assert exporter.scrape()("kohort_group_lag_records", group="billing") == 90
        assert exporter.stop() == 0
        assert exporter.stderr.endswith("kohort: stopped\n")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--listen 0.0.0.0:0", "--tls-certificate"),
        ("--listen [::]:0", "--tls-certificate"),
        ("--listen 0.0.0.0:0 --token-file {files}/token", "sent in clear text"),
        ("--listen 0.0.0.0:0 --tls-certificate {files}/broker.store.pem", "--token-file"),
        ("--listen SSL://127.0.0.1:0", "write HOST:PORT"),
        ("--listen 127.0.0.1", "not a listen address"),
        ("--listen ''", "no value is given"),
        ("--listen http://127.0.0.1:0", "write HOST:PORT"),
        ("--tls-key {files}/broker.key", "--tls-certificate FILE"),
        ("--tls-client-ca {files}/ca.pem", "--tls-certificate FILE"),
        ("--tls-certificate {files}/nowhere.pem", "nowhere.pem"),
        ("--tls-certificate {files}/token", "cannot be loaded"),
        ("--token-file {files}/nowhere", "cannot be used"),
        ("--token-file /dev/null", "it is empty"),
        ("--token-file {files}", "{files} cannot be used: Is a directory"),
        ("--access {files}/token", "token"),
        ("--once --listen 127.0.0.1:0", "cannot be used together"),
        ("--once --token-file {files}/token", "needs --listen"),
        ("--textfile groups.txt", "end in .prom"),
        ("--textfile {files}/nowhere/groups.prom", "is not a directory"),
        ("--match '('", "--match"),
        ("--match-topic '(' ", "--match-topic"),
        ("--max-series 0", "--max-series"),
        ("--interval 0", "at least a second"),
        ("--interval 2d", "at most a day"),
        ("--interval nan", "'nan' is not a duration"),
    ],
)
def test_what_cannot_be_meant_is_refused(kohort: Kohort, files: Path, options: str, reason: str) -> None:
    kohort.quick(f"exporter {options.format(files=files)}", *SOURCE).assert_refused(
        reason.format(files=files)
    )


def test_a_port_that_is_taken_is_named(kohort: Kohort) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        point = f"127.0.0.1:{taken.getsockname()[1]}"
        kohort("exporter --listen", point, *SOURCE).assert_refused("Address already in use", point, status=3)


def test_a_textfile_is_replaced_as_a_whole(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "kohort.prom"
    kohort.quick("exporter --once --textfile", file, *SOURCE, "--match", "^billing$").succeeded(stderr="")
    first = Figures.read(file.read_text())
    assert first.by("kohort_group_lag_records", "group") == {"billing": 90}
    assert not any(
        name.startswith(("process_", "python_")) for name in first.samples
    )  # the node exporter has some
    kohort.quick("exporter --once --textfile", file, *SOURCE).succeeded()
    assert len(Figures.read(file.read_text()).by("kohort_group_lag_records", "group")) > 1
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    assert file.stat().st_mode & 0o777 == 0o644
    file.unlink()
    file.mkdir()
    kohort.quick("exporter --once --textfile", file, *SOURCE).assert_refused("cannot be written", status=3)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_samples_that_are_too_many_are_counted(kohort: Kohort) -> None:
    def shown(*options: str) -> Figures:
        return Figures.read(kohort.quick("exporter --once", *options, *SOURCE).succeeded().stdout)

    whole = shown("--per", "partition")
    assert whole.by("kohort_series_left_out", "level") == {"group": 0, "topic": 0, "partition": 0}
    groups, series = whole.by("kohort_group_readable", "group"), whole("kohort_series") or 0
    for most in (1, 30, int(series / 4), int(series / 2), int(series) - 1):
        cut = shown("--per", "partition", "--max-series", str(most))
        fleet = {
            name: values
            for name, values in cut.samples.items()
            if name.startswith(("kohort_group_", "kohort_topic_", "kohort_partition_"))
        }
        assert sum(map(len, fleet.values())) == cut("kohort_series")
        assert (cut("kohort_series") or 0) <= most
        left_out = cut.by("kohort_series_left_out", "level")
        assert left_out["partition"] > 0
        assert (left_out["group"] > 0) is (len(cut.by("kohort_group_readable", "group")) < len(groups))
        assert (cut("kohort_series") or 0) + sum(left_out.values()) >= series
    topics = shown("--per", "group", "--match-topic", "^orders$")
    assert "kohort_topic_lag_records" not in topics.samples
    assert topics("kohort_group_lag_records", group="billing") != whole(
        "kohort_group_lag_records", group="billing"
    )
