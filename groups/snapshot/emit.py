"""YAML for files and screens that people read: block style outside, flow style for what fits a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./+=-]*")
_RESERVED = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_BLOCK_DEPTH = 6
"""Levels that may be written a line an entry."""
_LONGEST_PLAIN_KEY = 1000
"""YAML wants the colon within 1024 characters of the key's begin, or the key marked by `? `."""


def yaml_lines(tree: Mapping[Any, Any]) -> Iterator[str]:
    """The lines of a YAML document that any YAML 1.1 or 1.2 reader takes back as the same values."""
    return _lines(tree, 0)


def _lines(value: Mapping[Any, Any], depth: int) -> Iterator[str]:
    indent = "  " * depth
    for key, item in value.items():
        if item and depth < _BLOCK_DEPTH and isinstance(item, dict) and _wants_block(item):
            yield f"{_key(key, indent)}:\n"
            yield from _lines(item, depth + 1)
        elif item and isinstance(item, list) and isinstance(item[0], dict):
            yield f"{_key(key, indent)}:\n"
            for entry in item:
                lines = "".join(_lines(entry, depth + 2))
                yield f"{indent}  - {lines.lstrip()}"
        else:
            yield f"{_key(key, indent)}: {_flow(item)}\n"


def _key(key: Any, indent: str) -> str:
    """A key of a block, up to where its colon stands."""
    text = _flow(key)
    return f"{indent}{text}" if len(text) <= _LONGEST_PLAIN_KEY else f"{indent}? {text}\n{indent}"


def _flow_key(key: Any) -> str:
    text = _flow(key)
    return text if len(text) <= _LONGEST_PLAIN_KEY else f"? {text} "


def _wants_block(value: Mapping[Any, Any]) -> bool:
    """Mappings of mappings go a line an entry; small leaves stay on one line."""
    return any(isinstance(item, dict | list) for item in value.values()) or len(value) > 8


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow_key(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, str):
        return _scalar(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


@lru_cache(maxsize=4096)
def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    code = ord(character)
    if character in '"\\':
        return "\\" + character
    if 0x20 <= code < 0x7F or 0xA0 <= code < 0xD800 or 0xE000 <= code < 0xFEFF:
        return "\\u2028" if code == 0x2028 else "\\u2029" if code == 0x2029 else character
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
