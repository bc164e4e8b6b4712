"""`kohort top --web` in a real browser: it is typed into, drawn, and asks nothing of any other site."""

from pathlib import Path

import pyte

from tests.browser.chromium import Chromium, Page
from tests.cli.command import Kohort
from tests.cli.verbs.fleet.test_report_page_in_browser import browser as browser
from tests.cli.verbs.top.pages import children, serving_pages
from tests.kafka.wait import wait_until

FROM_ELSEWHERE = """
new Promise(done => {
  const socket = new WebSocket('SOCKET');
  socket.onopen = () => done('opened');
  socket.onerror = () => done('refused');
})
"""

USUAL = ("ping=", "WebGL", "task queue exceeded")
"""What the terminal in the page says about itself; the last one on a busy machine."""


def shown(page: Page) -> str:
    """What the terminal of the page shows: what its socket has received."""
    page.evaluate("0")
    screen = pyte.Screen(300, 100)
    pyte.ByteStream(screen).feed(b"".join(page.received))
    return "\n".join(line.rstrip() for line in screen.display)


def wait_for(page: Page, text: str) -> None:
    wait_until(lambda: text in shown(page), lambda: f"{text}: {shown(page)}")


def test_groups_are_filtered_and_opened_in_a_browser(
    browser: Chromium, kohort: Kohort, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("t0ken\n")
    with serving_pages(kohort, tmp_path, "--token-file", tmp_path / "token") as (running, url):
        server = running.process.pid
        assert "401" in "".join(browser.open(url).messages)
        page = browser.open(url.replace("//", "//any:t0ken@"))
        wait_for(page, "warehouse")
        empty = page.screenshot()
        page.type("/bill\r")
        wait_for(page, "1 of 10 groups")
        assert page.screenshot() != empty
        page.type("\r")
        wait_for(page, "group billing")
        page.look(width=700)
        assert {request.split("/")[2].rpartition("@")[2] for request in page.requests} == {url.split("/")[2]}
        assert [message for message in page.messages if not any(part in message for part in USUAL)] == []
        # The browser has the login by now; a page from elsewhere still opens no socket.
        elsewhere = browser.open("data:text/html,elsewhere")
        socket = url.replace("http", "ws") + "/ws"
        assert elsewhere.evaluate(FROM_ELSEWHERE.replace("SOCKET", socket)) == "refused"
        assert len(children(server)) == 1
        page.type("q")
        wait_until(
            lambda: page.evaluate("document.body.classList.contains('-closed')"), "it says that it ended"
        )
        assert "Open it again" in page.evaluate("document.querySelector('#ended').innerText")
        wait_until(lambda: children(server) == [], "its process has ended")
        again = browser.open(url)
        wait_for(again, "warehouse")
        again.ask("Page.navigate", url="about:blank")
        wait_until(lambda: children(server) == [], "its process has ended with the page")
