"""ApiVersions in its flexible versions, without kio's classes: the first thing that every connection asks."""

from typing import Any

from wire.messages.encode import write_text
from wire.messages.plain import BOOL, ERROR_CODE, INT16, INT32, INT64, TEXT, many, named, read_answer
from wire.messages.plain_request import PlainRequest

FIRST_PLAIN = 3
"""The first flexible version, and the first that tells features."""

_SOFTWARE, _SOFTWARE_VERSION = "kohort", "0"
_ANSWER = named(
    {
        0: ("supported_features", many(named(name=TEXT, min_version=INT16, max_version=INT16)), ()),
        1: ("finalized_features_epoch", INT64, -1),
        2: (
            "finalized_features",
            many(named(name=TEXT, max_version_level=INT16, min_version_level=INT16)),
            (),
        ),
        3: ("zk_migration_ready", BOOL, False),
    },
    error_code=ERROR_CODE,
    api_keys=many(named(api_key=INT16, min_version=INT16, max_version=INT16)),
    throttle_time=INT32,
)


def versions_request(version: int) -> PlainRequest:
    """What the client says of itself, to be told the versions of the broker."""

    def write(out: bytearray) -> None:
        write_text(out, _SOFTWARE)
        write_text(out, _SOFTWARE_VERSION)
        out.append(0)

    return PlainRequest(version=version, write=write)


def read_versions(answer: bytes) -> tuple[Any, int]:
    """With the fields of kio's answer. :raises DecodeError: when the bytes do not hold it

    The header has no tagged fields: who asked in a version that the broker does not know must be able to read it.
    """
    return read_answer(_ANSWER, answer, bare=True)
