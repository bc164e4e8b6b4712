"""`kohort top --web`: who gets a page, what it may do, and when its process ends."""

import asyncio
import signal
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiohttp import ClientSession, WSCloseCode, WSMsgType
from aiohttp.test_utils import TestClient, TestServer
from aiohttp.web import Application, Request

from cli.verbs.top import page
from cli.verbs.top.page import environment
from cli.verbs.top.web import MOST_PAGES, TopServer
from cli.verbs.top.words import KOHORT
from cli.web_guard import Guard, WebLogin
from coordinator.server.security.addresses import parse_listen
from tests.cli.command import Kohort
from tests.cli.offset_rig import OffsetRig
from tests.cli.verbs.exporter.test_guard import basic, trusting
from tests.cli.verbs.exporter.test_guard import files as files
from tests.cli.verbs.top.pages import SAMPLE, children, opened, serving_pages, words_of
from tests.kafka.wait import wait_until
from tests.support.long import LONG

LOOPBACK, EVERYWHERE = "127.0.0.1:0", "0.0.0.0:0"
Served = TestClient[Request, Application]
ECHO = ("cat",)
"""A page that sends back the packets which it gets, and ends with its input."""


def with_server(
    check: Callable[[Served], Awaitable[None]],
    words: tuple[str, ...] = ECHO,
    listen: str = LOOPBACK,
    login: WebLogin | None = None,
) -> None:
    """Run checks on a server whose pages are this command, in this process."""

    async def run() -> None:
        server = TopServer(words, Guard(address=parse_listen(listen), login=login or WebLogin()))
        async with TestClient(TestServer(server.application(SAMPLE.parent))) as client:
            await check(client)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("listen", "headers", "status"),
    [
        (LOOPBACK, {}, 200),
        (LOOPBACK, {"Host": "localhost:80"}, 200),
        (LOOPBACK, {"Host": "[::1]:9409", "Origin": "http://[::1]:9409"}, 200),
        (LOOPBACK, {"Host": "127.0.0.1:9409", "Origin": "http://127.0.0.1:9409"}, 200),
        (LOOPBACK, {"Host": "127.0.0.1:9409", "Origin": "http://127.0.0.1:9410"}, 403),
        (LOOPBACK, {"Host": "127.0.0.1:9409", "Origin": "http://evil.example"}, 403),
        (LOOPBACK, {"Host": "127.0.0.1:9409", "Origin": "null"}, 403),
        (LOOPBACK, {"Host": "evil.example"}, 403),
        (LOOPBACK, {"Host": "evil.example", "Origin": "http://evil.example"}, 403),
        (LOOPBACK, {"Host": "127.0.0.1.evil.example"}, 403),
        (LOOPBACK, {"Host": "[::1"}, 403),
        (LOOPBACK, {"Host": "127.0.0.1:9409", "Origin": "http://["}, 403),
        (EVERYWHERE, {"Host": "tools.example", "Origin": "https://tools.example"}, 200),
        (EVERYWHERE, {"Host": "tools.example", "Origin": "https://evil.example"}, 403),
    ],
)
def test_only_the_pages_own_origin_and_name_are_answered(
    listen: str, headers: dict[str, str], status: int
) -> None:
    async def check(client: Served) -> None:
        for path in ("/", "/static/sample.yaml", "/ws?width=0", "/ws?width=x"):
            expected = status if status != 200 or not path.startswith("/ws") else 400
            answer = await client.get(path, headers=headers)
            assert answer.status == expected, path
            assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
            assert answer.headers["Cache-Control"] == "no-store"
        assert (await client.post("/", headers=headers)).status == (405 if status == 200 else status)

    with_server(check, listen=listen)


def test_a_login_is_asked_for_on_every_path(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("t0ken\n")

    async def check(client: Served) -> None:
        for path in ("/", "/static/sample.yaml", "/ws"):
            for wrong in ("", "Bearer t0ke", basic("t0ken", ""), basic("", "")):
                refused = await client.get(path, headers={"Authorization": wrong})
                assert (refused.status, refused.headers["WWW-Authenticate"].split()[0]) == (401, "Basic")
        for login in ("Bearer t0ken", basic("", "t0ken"), basic("anyone", "t0ken")):
            assert (await client.get("/", headers={"Authorization": login})).status == 200
        token.unlink()
        assert (await client.get("/", headers={"Authorization": "Bearer t0ken"})).status == 401

    with_server(check, login=WebLogin(token_file=token))


@pytest.mark.parametrize(
    "message",
    [
        "",
        "[]",
        "{}",
        '["stdin"]',
        '["stdin", 7]',
        '["resize", {"width": "1", "height": 2}]',
        "[" * 100_000,
        '["exit"]',
    ],
)
def test_a_message_that_no_page_sends_closes_it(message: str) -> None:
    async def check(client: Served) -> None:
        async with client.ws_connect("/ws") as socket:
            await socket.send_str(message)
            assert (await socket.receive(timeout=30)).data == WSCloseCode.UNSUPPORTED_DATA

    with_server(check)


def test_keys_and_sizes_are_passed_on_within_bounds() -> None:
    script = "printf '__GANGLION__\\n'; exec cat"

    async def check(client: Served) -> None:
        async with client.ws_connect("/ws?width=1&height=99999") as socket:
            await socket.send_json(["ping", "7"])
            assert await socket.receive_json(timeout=30) == ["pong", "7"]
            for text in ("a", "é日\ud800", "x" * 100_000):
                await socket.send_json(["stdin", text])
                assert (await socket.receive(timeout=30)).data == text.encode(errors="replace")
            await socket.send_json(["resize", {"width": 10**9, "height": -1}])
            await socket.send_bytes(b"\0")
            assert (await socket.receive(timeout=30)).type is WSMsgType.CLOSE

    with_server(check, ("sh", "-c", script))
    variables = environment({"TERM": "dumb", "NO_COLOR": "1", "TEXTUAL_PRESS": "q", "HOME": "/"}, 1, 99_999)
    assert (variables["COLUMNS"], variables["ROWS"], variables["HOME"]) == ("20", "200", "/")
    assert variables["TERM"] == "xterm-256color"
    assert not {"NO_COLOR", "TEXTUAL_PRESS"} & set(variables)


def test_a_page_that_cannot_start_shows_why(capfd: pytest.CaptureFixture[str]) -> None:
    async def check(client: Served) -> None:
        async with client.ws_connect("/ws") as socket:
            assert (await socket.receive(timeout=30)).data.endswith(b"kohort: why\r\n")
            assert (await socket.receive(timeout=30)).type is WSMsgType.CLOSE

    with_server(check, ("sh", "-c", "echo kohort: why >&2"))
    assert capfd.readouterr().err == "kohort: why\n"


def test_pages_are_limited_and_a_place_is_free_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "GRACE_S", 0.1)  # `sleep` does not end with its input: it is killed

    async def check(client: Served) -> None:
        async with AsyncExitStack() as stack:
            sockets = [await stack.enter_async_context(client.ws_connect("/ws")) for _ in range(MOST_PAGES)]
            for path in ("/", "/ws"):
                answer = await client.get(path)
                assert (answer.status, "pages are open already" in await answer.text()) == (503, True)
            await sockets[0].close()
            while (await client.get("/")).status == 503:
                await asyncio.sleep(0.02)

    with_server(check, ("sleep", "600"))


def test_a_page_is_read_only_and_ends_with_its_server(kohort: Kohort, tmp_path: Path) -> None:
    async def course(url: str, server: int) -> None:
        async with opened(url) as first:
            await first.wait_for("warehouse")
            (process,) = children(server)
            assert {"--read-only", "--snapshot"} <= set(words_of(process))
            await first.type("/bill")
            await first.wait_for("1 of 10 groups")
            await first.type("\r\r")
            await first.wait_for("group billing")
            await first.type(":delete\r")
            await first.wait_for("kohort delete billing")
            await first.wait_for("Copy command")
            assert "x Execute" not in first.text
            await first.type("\x1b")
            await first.wait_for("OWNS")
            await first.type(":gate /etc/pass")
            await first.wait_for("gate /etc/pass")
            assert "passwd" not in first.text
            await first.type("wd\r")
            await first.wait_for("not in a browser: PLAN")
            running.process.send_signal(signal.SIGTERM)
            await first.ended()

    with serving_pages(kohort, tmp_path) as (running, url):
        for hostile in (
            b"\x16\x03\x01",
            b"GET / HTTP/9.9\r\n\r\n",
            b"GET /" + b"a" * 100_000,
            b"\xff" * 1000,
        ):
            host, port = url.removeprefix("http://").split(":")
            with socket.create_connection((host, int(port))) as client:
                client.sendall(hostile)
        asyncio.run(course(url, running.process.pid))
        assert running.process.wait(30) == 0
        assert running.stderr == "kohort: stopped\n"


def test_a_page_ends_by_itself_when_its_input_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "GRACE_S", 60.0)

    async def course() -> int | None:
        async with page.running_page((*KOHORT, "top", "--snapshot", str(SAMPLE)), 80, 24) as running:
            async for drawn in running.output():
                if b"warehouse" in drawn:
                    break
        return running.process.returncode

    assert asyncio.run(course()) == 0  # and not -9


def test_pages_end_with_a_server_that_is_killed(kohort: Kohort, tmp_path: Path) -> None:
    async def course(url: str) -> int:
        async with opened(url) as page:
            await page.wait_for("warehouse")
            (process,) = children(running.process.pid)
            running.process.kill()
            return process

    with serving_pages(kohort, tmp_path) as (running, url):
        process = asyncio.run(course(url))
        wait_until(lambda: not Path(f"/proc/{process}").exists(), "its page has ended")


def test_others_log_in_over_tls_with_the_newest_certificate(
    kohort: Kohort, files: Path, tmp_path: Path
) -> None:
    certificate = tmp_path / "tls.pem"
    certificate.write_bytes((files / "broker.store.pem").read_bytes())
    options = ("--allow-changes", "--access", files / "access.yaml", "--tls-certificate", certificate)

    async def status(url: str, login: str) -> int:
        async with ClientSession() as session:
            answer = await session.get(url, headers={"Authorization": login}, ssl=trusting(files))
            async with answer:
                return answer.status

    def shown() -> str:
        host, port = url.removeprefix("https://").split(":")
        return ssl.get_server_certificate((host, int(port)), timeout=30)

    with serving_pages(kohort, tmp_path, *options) as (_, url):
        assert url.startswith("https://")
        logins = ("", basic("prometheus", "wrong"), basic("prometheus", "of:the scraper"))
        assert [asyncio.run(status(url, login)) for login in logins] == [401, 401, 200]
        former = shown()
        (tmp_path / "new").write_bytes((files / "client.store.pem").read_bytes())
        (tmp_path / "new").replace(certificate)
        wait_until(lambda: shown() != former, "the replaced certificate is used")


def test_only_allow_changes_makes_pages_that_change(
    kohort: Kohort, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[Sequence[str]] = []

    async def serve(server: TopServer) -> None:
        served.append(server.words)

    monkeypatch.setattr(TopServer, "serve", serve)
    for options in ("", "--read-only", f"--allow-changes --token-file {files}/token"):
        kohort.quick(f"top billing --web {options}", "--snapshot", SAMPLE).succeeded()
    assert ["--read-only" in words for words in served] == [True, True, False]
    assert all(tuple(words[-2:]) == ("--", "billing") and "--web" not in words for words in served)


@LONG
def test_a_login_changes_a_cluster_with_the_consent_of_the_terminal(
    kohort: Kohort, rig: OffsetRig, files: Path, tmp_path: Path
) -> None:
    group = rig.group({(rig.topic([3]), 0): 1})

    async def course(url: str) -> None:
        async with opened(url, "Bearer t0ken") as page:
            await page.wait_for(group)
            await page.type(f":delete {group}\r")
            await page.wait_for("Nothing is changed yet")
            await page.type("x")
            await page.wait_for("Type yes")
            assert rig.committed(group)
            await page.type("yes\r")
            await page.wait_for("deleted")

    options = ("-b", rig.broker.bootstrap, "--allow-changes", "--token-file", files / "token")
    with serving_pages(kohort, tmp_path, *options) as (_, url):
        asyncio.run(course(url))
    assert not rig.committed(group)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--web --listen 0.0.0.0:0", "--tls-certificate"),
        ("--web --listen 0.0.0.0:0 --token-file {files}/token", "sent in clear text"),
        ("--web --tls-key {files}/broker.key", "--tls-certificate FILE"),
        ("--web --allow-changes", "--allow-changes needs a login"),
        ("--web --allow-changes --read-only --token-file {files}/token", "cannot be used together"),
        ("--allow-changes", "--allow-changes needs --web"),
        ("--listen 127.0.0.1:0", "--listen needs --web"),
        ("--token-file {files}/token", "--token-file needs --web"),
    ],
)
def test_what_cannot_be_meant_is_refused(kohort: Kohort, files: Path, options: str, reason: str) -> None:
    kohort.quick(f"top {options.format(files=files)}", "--snapshot", SAMPLE).assert_refused(reason)


def test_a_port_that_is_taken_is_named(kohort: Kohort, tmp_path: Path) -> None:
    with serving_pages(kohort, tmp_path) as (_, url):
        point = url.removeprefix("http://")
        answer = kohort("top --web --listen", point, "--snapshot", SAMPLE)
        answer.assert_refused("Address already in use", point, status=3)
