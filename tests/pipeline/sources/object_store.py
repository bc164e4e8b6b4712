"""As much of S3's API as reading takes, over a directory: heads, ranges and lists of one page. Nothing is signed."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

BUCKET = "logs"
_RANGE = re.compile(r"bytes=(\d+)-(\d*)")
_DATE = "2026-01-01T00:00:00.000Z"
_HTTP_DATE = "Thu, 01 Jan 2026 00:00:00 GMT"


@contextmanager
def object_store(root: Path) -> Iterator[str]:
    """Serve the files below `root` as the objects of `BUCKET`; gives the endpoint."""

    class Handler(_Handler):
        directory = root

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    directory = Path()

    def do_HEAD(self) -> None:
        self._object(body=False)

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        if "list-type" in query:
            self._list(query.get("prefix", [""])[0], query.get("delimiter", [""])[0])
        else:
            self._object(body=True)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _object(self, *, body: bool) -> None:
        bucket, _, key = unquote(urlsplit(self.path).path).lstrip("/").partition("/")
        path = self.directory / key
        if bucket != BUCKET or (key and not path.is_file()):
            self._answer(404, b"", {})
            return
        data = path.read_bytes() if key else b""
        match = _RANGE.fullmatch(self.headers.get("Range", ""))
        if match is None:
            self._answer(200, data, {}, body=body)
            return
        start, stop = int(match[1]), min(int(match[2] or len(data)), len(data) - 1)
        content_range = {"Content-Range": f"bytes {start}-{stop}/{len(data)}"}
        self._answer(206, data[start : stop + 1], content_range, body=body)

    def _list(self, prefix: str, delimiter: str) -> None:
        keys = [
            (path.relative_to(self.directory).as_posix(), path.stat().st_size)
            for path in sorted(self.directory.rglob("*"))
            if path.is_file()
        ]
        contents, common = [], []
        for key, size in keys:
            if not key.startswith(prefix):
                continue
            head, cut, _ = key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
            if cut:
                common.append(f"{prefix}{head}{delimiter}")
            else:
                contents.append(
                    f"<Contents><Key>{escape(key)}</Key><LastModified>{_DATE}</LastModified>"
                    f'<ETag>"0"</ETag><Size>{size}</Size></Contents>'
                )
        prefixes = [
            f"<CommonPrefixes><Prefix>{escape(fromkey)}</Prefix></CommonPrefixes>"
            for fromkey in dict.fromkeys(common)
        ]
        text = (
            '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Name>{BUCKET}</Name><KeyCount>{len(contents) + len(prefixes)}</KeyCount>"
            f"<IsTruncated>false</IsTruncated>{''.join(contents + prefixes)}</ListBucketResult>"
        )
        self._answer(200, text.encode(), {"Content-Type": "application/xml"})

    def _answer(self, status: int, data: bytes, headers: dict[str, str], *, body: bool = True) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Last-Modified", _HTTP_DATE)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            self.wfile.write(data)
