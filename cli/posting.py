"""One POST to a receiver that the user names: a webhook, or a receiver of metrics. It may carry secret headers."""

import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping

ANSWER_WITHIN_S = 10
_MOST_OF_ANSWER = 65_536


class PostFailed(Exception):
    """Why a receiver did not get something, without its address."""


def post(url: str, body: bytes, headers: Mapping[str, str]) -> bytes:
    """The start of the answer. `url` is one of http or https. Raises PostFailed."""
    try:
        request = urllib.request.Request(url, body, {**headers, "User-Agent": "kohort"})  # noqa: S310
        with _OPENER.open(request, timeout=ANSWER_WITHIN_S) as answer:
            content: bytes = answer.read(_MOST_OF_ANSWER)
            return content
    except urllib.error.HTTPError as error:
        with error:
            raise PostFailed(f"it answers {error.code} {error.reason}") from None
    except urllib.error.URLError as error:
        raise PostFailed(getattr(error.reason, "strerror", None) or str(error.reason)) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise PostFailed(str(error) or type(error).__name__) from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would send the secret headers to another host."""

    def redirect_request(self, *_: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)
