"""Client properties for the broker with TLS, SASL and an authorizer."""

from pathlib import Path

from tests.cli.command import Answer, Kohort
from tests.kafka.secure import PASSWORDS, SecureBroker

SECRET = ("-secret", '"secret', "sécret")
"""In every password of the rig, and in none of our messages."""


class SecureRig:
    """Runs our command against a listener, with a file of properties."""

    def __init__(self, *, secure: SecureBroker, kohort: Kohort, scratch: Path) -> None:
        self.secure, self.kohort, self._scratch = secure, kohort, scratch

    @property
    def trust(self) -> str:
        return f"ssl.ca.location={self.secure.files}/ca.pem\n"

    def file(self, text: str) -> Path:
        path = self._scratch / "client.properties"
        path.write_text(text, encoding="utf-8")
        return path

    def run(self, at: str, properties: str, *command: str | Path, timeout_ms: int = 20_000) -> Answer:
        answer = self.kohort.quick(*command, *self.source(at, properties, timeout_ms))
        assert not answer.traceback, answer.stderr
        shown = answer.stdout + answer.stderr
        assert not any(mark in shown for mark in SECRET), shown
        return answer

    def source(self, at: str, properties: str, timeout_ms: int = 20_000) -> list[str]:
        return ["-b", at, "--command-config", str(self.file(properties)), "--timeout", str(timeout_ms)]

    def as_user(self, name: str, *command: str | Path) -> Answer:
        password = PASSWORDS[name].replace("\\", "\\\\")
        login = f"sasl.mechanism=PLAIN\nsasl.username={name}\nsasl.password={password}\n"
        properties = f"security.protocol=SASL_SSL\n{login}{self.trust}"
        return self.run(self.secure.at("SASL_SSL"), properties, *command)
