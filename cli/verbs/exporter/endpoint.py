"""The endpoint of the exporter; an address that other machines can reach needs TLS and a login."""

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from prometheus_client.exposition import gzip_accepted

from cli.verbs.exporter.newest_page import NewestPage
from cli.web_guard import WebLogin
from coordinator.server.web import PageRequest, WebPage

METRICS, HEALTHY, READY = "/metrics", "/-/healthy", "/-/ready"
_LANDING = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Kohort exporter</title></head>
<body><h1>Kohort exporter</h1><p>Metrics of Kafka groups.</p><ul>
<li><a href="{METRICS}">{METRICS}</a>: all metrics</li>
<li><a href="{HEALTHY}">{HEALTHY}</a>: 200 while the exporter runs</li>
<li><a href="{READY}">{READY}</a>: 200 after the first successful poll</li>
</ul></body></html>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExporterPages:
    newest: NewestPage
    login: WebLogin
    report: Callable[[str], object]  # Called with a line for each internal error

    def page(self, request: PageRequest) -> WebPage:
        path = request.path
        if path == HEALTHY:
            return WebPage(pieces=[b"running\n"])
        if path == READY:
            if not self.newest.is_ready:
                return WebPage(status=HTTPStatus.SERVICE_UNAVAILABLE, pieces=[b"no poll has succeeded yet\n"])
            return WebPage(pieces=[b"ready\n"])
        if not self.login.admits(request.headers.get("Authorization", ""), request.certificate, self.report):
            return WebPage(
                status=HTTPStatus.UNAUTHORIZED,
                pieces=[b"login required\n"],
                headers={"WWW-Authenticate": 'Basic realm="kohort", charset="UTF-8"'},
            )
        if path == "/":
            return WebPage(pieces=[_LANDING.encode()], headers={"Content-Type": "text/html; charset=utf-8"})
        if path != METRICS:
            text = f"not found; see / {METRICS} {HEALTHY} {READY}\n"
            return WebPage(status=HTTPStatus.NOT_FOUND, pieces=[text.encode()])
        exposition = self.newest.exposition(
            request.headers.get("Accept", ""),
            compressed=gzip_accepted(request.headers.get("Accept-Encoding", "")),
        )
        more = {"Content-Encoding": "gzip"} if exposition.is_compressed else {}
        return WebPage(
            pieces=exposition.pieces,
            headers={"Content-Type": exposition.content_type, "Vary": "Accept, Accept-Encoding", **more},
            length=exposition.length,
        )
