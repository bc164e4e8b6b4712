"""The principal of a client certificate: its name, and `ssl.principal.mapping.rules`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coordinator.errors import InvalidSetting

ANONYMOUS = "User:ANONYMOUS"  # the principal of a client that is not authenticated (KafkaPrincipal.ANONYMOUS)

_KEYWORDS = {
    "commonName": "CN",
    "countryName": "C",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "streetAddress": "STREET",
    "domainComponent": "DC",
    "userId": "UID",
}
"""RFC 2253's short names for OpenSSL's long ones."""
_EMAIL_ADDRESS = "1.2.840.113549.1.9.1"
_IA5_STRING = 0x16
_SPECIAL = re.compile(r'([,+"\\<>;])')


class UnknownPrincipal(Exception):
    """No rule matches the name of a certificate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrincipalRule:
    """One of `ssl.principal.mapping.rules`; without a pattern it is DEFAULT. `case` is L, U or empty."""

    pattern: re.Pattern[str] | None = None
    replacement: str = ""
    case: str = ""

    def applied(self, name: str) -> str | None:
        if self.pattern is None:
            return name
        if not self.pattern.fullmatch(name):
            return None
        mapped = self.pattern.sub(self._replaced, name)
        return mapped.lower() if self.case == "L" else mapped.upper() if self.case == "U" else mapped

    def _replaced(self, match: re.Match[str]) -> str:
        """The replacement as `Matcher.replaceAll` reads it: `$n` is a group, a backslash quotes."""

        def token(part: re.Match[str]) -> str:
            if part["quoted"] is not None:
                return part["quoted"]
            digits = part["group"]
            while len(digits) > 1 and int(digits) > match.re.groups:
                digits = digits[:-1]
            if int(digits) > match.re.groups:
                return part[0]
            return (match[int(digits)] or "") + part["group"][len(digits) :]

        return _TOKEN.sub(token, self.replacement)


_TOKEN = re.compile(r"\\(?P<quoted>.)|\$(?P<group>\d+)")
_RULE = re.compile(
    r"\s*(?:(?P<default>DEFAULT)|RULE:(?P<pattern>(?:\\.|[^\\/])*)/(?P<replacement>(?:\\.|[^\\/])*)/(?P<case>[LU]?))?"
    r"\s*(?:,|$)"
)
DEFAULT = (PrincipalRule(),)


def parse_rules(text: str) -> tuple[PrincipalRule, ...]:
    """`RULE:pattern/replacement/[LU],…,DEFAULT`; the first that matches a name applies. Raises InvalidSetting."""
    rules, position = [], 0
    while position < len(text):
        match = _RULE.match(text, position)
        if match is None:
            raise InvalidSetting(f"ssl.principal.mapping.rules: Invalid rule: {text[position:]}")
        position = match.end()
        if match["default"] is not None:
            rules.append(PrincipalRule())
        elif match["pattern"] is not None:
            try:
                pattern = re.compile(match["pattern"])
            except re.error as error:
                raise InvalidSetting(f"ssl.principal.mapping.rules: {match['pattern']}: {error}") from None
            rules.append(PrincipalRule(pattern=pattern, replacement=match["replacement"], case=match["case"]))
    return tuple(rules)


def principal_of(certificate: Mapping[str, object] | None, rules: Sequence[PrincipalRule] = DEFAULT) -> str:
    """The principal of `SSLSocket.getpeercert()`; ANONYMOUS without one. Raises UnknownPrincipal: no rule matches."""
    if not certificate:
        return ANONYMOUS
    name = distinguished_name(certificate)
    mapped = next((short for rule in rules if (short := rule.applied(name)) is not None), None)
    if mapped is None:
        raise UnknownPrincipal(f"no rule of ssl.principal.mapping.rules matches {name}")
    return f"User:{mapped}"


def distinguished_name(certificate: Mapping[str, Any]) -> str:
    """The name as Java's `X500Principal.getName` writes it (RFC 2253)."""
    names = reversed(certificate.get("subject", ()))
    return ",".join("+".join(_attribute(name, value) for name, value in parts) for parts in names)


def _attribute(name: str, value: str) -> str:
    if name == "emailAddress":  # RFC 2253 has no name for it: number and DER
        content = value.encode("latin-1", errors="replace")
        return f"{_EMAIL_ADDRESS}=#{bytes((_IA5_STRING, len(content))).hex()}{content.hex()}"
    escaped = _SPECIAL.sub(r"\\\1", value)
    if escaped.endswith(" "):
        escaped = escaped[:-1] + "\\ "
    front = "\\" if escaped.startswith(("#", " ")) else ""
    return f"{_KEYWORDS.get(name, name)}={front}{escaped}"
