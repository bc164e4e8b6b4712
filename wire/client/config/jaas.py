"""``sasl.jaas.config``: a login module with options, as Kafka's JaasConfig reads it."""

import re
from dataclasses import dataclass

from wire.client.security import Secret

_TOKEN = re.compile(
    r"""\s+ | //[^\n]* | /\*.*?\*/                       # blanks and comments
    | "(?P<double>(?:\\.|[^"\\])*)" | '(?P<single>(?:\\.|[^'\\])*)'
    | (?P<word>[^\s=;"']+) | (?P<sign>[=;])""",
    re.VERBOSE | re.DOTALL,
)
_FLAGS = frozenset({"required", "requisite", "sufficient", "optional"})
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b", "a": "\a", "v": "\v"}


class BadJaas(ValueError):
    """The text is not a JAAS configuration; the message contains none of its values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginModule:
    """One login module: its class name and options (which may be secrets: repr hides them)."""

    name: str
    options: dict[str, Secret]

    @property
    def short_name(self) -> str:
        """The class without its package: PlainLoginModule."""
        return self.name.rpartition(".")[2]


def parse_jaas(text: str) -> LoginModule:
    """Read ``<class> <flag> <key>="<value>" …;``.

    :raises BadJaas: it has another form, or contains more than one module
    """
    tokens = _tokens(text)
    if len(tokens) < 2 or tokens[1].lower() not in _FLAGS:
        raise BadJaas('write it as <login module class> required username="…" password="…";')
    if tokens[-1] != _END:
        raise BadJaas("the closing ; is missing")
    body = tokens[2:-1]
    if _END in body:
        raise BadJaas("only one login module is allowed")
    if len(body) % 3 or any(sign != _EQUALS for sign in body[1::3]):
        raise BadJaas('every option is written as key="value" (check the quotes)')
    return LoginModule(
        name=tokens[0],
        options={key: Secret(value) for key, value in zip(body[0::3], body[2::3], strict=True)},
    )


_EQUALS, _END = "\0=", "\0;"
"""The signs as tokens, distinct from the same characters in quotes."""


def _tokens(text: str) -> list[str]:
    tokens, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise BadJaas("a quote is not closed")
        position = match.end()
        if match["sign"]:
            tokens.append("\0" + match["sign"])
        elif match["word"] is not None:
            tokens.append(match["word"])
        elif match.lastgroup:
            tokens.append(_unescape(match[match.lastgroup]))
    return tokens


def _unescape(quoted: str) -> str:
    """Escapes as in Java's StreamTokenizer: letters, up to three octal digits; anything else is itself."""

    def replace(match: re.Match[str]) -> str:
        escaped = match[1]
        return chr(int(escaped, 8)) if escaped.isdigit() else _ESCAPES.get(escaped, escaped)

    return re.sub(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", replace, quoted, flags=re.DOTALL)
