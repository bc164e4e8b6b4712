"""``sasl.jaas.config``: a login module with options, as Kafka's JaasConfig reads it."""

import re
from dataclasses import dataclass

from wire.client.security import Secret

_WORD = r"A-Za-z_$\u00a0-\U0010ffff"
_TOKEN = re.compile(
    rf"""[\0-\x20]+ | /\*.*?(?:\*/|\Z) | //[^\r\n]* | /.?[^\r\n]*      # blanks, and comments: one / begins one too
    | "(?P<double>(?:\\.|[^"\\\r\n])*)" | '(?P<single>(?:\\.|[^'\\\r\n])*)'
    | (?P<word>[{_WORD}][{_WORD}0-9.\-]*) | (?P<other>-?(?:[0-9]+\.?|\.)[0-9]*|.)""",
    re.VERBOSE | re.DOTALL,
)
"""The tokens of a StreamTokenizer that also has the letters -, _ and $. A number is no text there."""
_FLAGS = frozenset({"required", "requisite", "sufficient", "optional"})
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b", "a": "\a", "v": "\v"}


class BadJaas(ValueError):
    """The text is not a JAAS configuration; the message contains none of its values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginModule:
    name: str
    options: dict[str, Secret]

    @property
    def short_name(self) -> str:
        return self.name.rpartition(".")[2]


def parse_jaas(text: str) -> LoginModule:
    """Read ``<class> <flag> <key>="<value>" …;``. Raises BadJaas: it has another form, or several modules."""
    tokens = _tokens(text)
    if len(tokens) < 2 or not tokens[0].is_text or tokens[1].text.lower() not in _FLAGS:
        raise BadJaas('write it as <login module class> required username="…" password="…";')
    if tokens[-1] != _END:
        raise BadJaas("the closing ; is missing")
    body = tokens[2:-1]
    if _END in body:
        raise BadJaas("only one login module is allowed")
    keys, signs, values = body[0::3], set(body[1::3]), body[2::3]
    if len(body) % 3 or signs - {_EQUALS} or not all(token.is_text for token in keys + values):
        raise BadJaas('every option is written as key="value" (check the quotes)')
    return LoginModule(
        name=tokens[0].text,
        options={key.text: Secret(value.text) for key, value in zip(keys, values, strict=True)},
    )


@dataclass(frozen=True, slots=True)
class _Token:
    """A word or a quoted text; or a sign or a number, which is not a text."""

    text: str
    is_text: bool = False


_EQUALS, _END = _Token("="), _Token(";")


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    for match in _TOKEN.finditer(text):
        if match["other"] in ("'", '"'):
            raise BadJaas("a quote is not closed")
        if match.lastgroup == "other":
            tokens.append(_Token(match["other"]))
        elif match.lastgroup is not None:
            quoted = match.lastgroup != "word"
            token = match[match.lastgroup]
            tokens.append(_Token(_unescape(token) if quoted else token, is_text=True))
    return tokens


def _unescape(quoted: str) -> str:
    """Escapes as in Java's StreamTokenizer: letters, up to three octal digits; anything else is itself."""

    def replace(match: re.Match[str]) -> str:
        escaped = match[1]
        return chr(int(escaped, 8)) if escaped[0] in "01234567" else _ESCAPES.get(escaped, escaped)

    return re.sub(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", replace, quoted, flags=re.DOTALL)
