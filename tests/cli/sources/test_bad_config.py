"""`--command-config` that cannot be used: file, line and next step, exit status 3, nothing on stdout."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Kohort

BAD = {
    "jks": (
        "security.protocol=SSL\nssl.truststore.location=/etc/kafka/trust.jks\nssl.truststore.password=hush\n",
        "line 2",
        "keytool",
    ),
    "p12": (
        "security.protocol=SSL\nssl.keystore.type=PKCS12\nssl.keystore.location=/k.p12\n",
        "line",
        "openssl",
    ),
    "unknown-key": ("client.id=a\nbootstrap.server=b:9092\n", "line 2", "Did you mean bootstrap.servers?"),
    "providers": ("config.providers=file\n", "line 1", "Write the values themselves"),
    "protocol": ("security.protocol=TLS\n", "line 1", "'TLS' is none of PLAINTEXT"),
    "jaas": ("security.protocol=SASL_SSL\nsasl.jaas.config=Plain username=a\n", "line 2", "cannot be read"),
    "number": ("request.timeout.ms=soon\n", "line 1", "request.timeout.ms"),
    "latin-1": (b"client.id=caf\xe9\n", "line 1", "Save the file as UTF-8"),
}


@pytest.mark.parametrize(("content", "line", "step"), BAD.values(), ids=BAD.keys())
def test_a_config_that_cannot_be_used(
    kohort: Kohort, tmp_path: Path, content: str | bytes, line: str, step: str
) -> None:
    file = tmp_path / "client.properties"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    answer = kohort.quick("list", "-b", "localhost:1", "--command-config", file)
    assert (answer.status, answer.stdout) == (3, "")
    assert answer.stderr.startswith(f"kohort: {file}, {line}")
    assert step in answer.stderr
    assert "hush" not in answer.stderr
    assert not answer.traceback


def test_a_config_that_cannot_be_read(kohort: Kohort, tmp_path: Path) -> None:
    for file, step in ((tmp_path / "no", "Check the path."), (tmp_path, "Name a properties file in it.")):
        answer = kohort("list", "-b", "localhost:1", "--command-config", file)
        assert (answer.status, answer.stdout) == (3, "")
        assert answer.stderr.startswith(f"kohort: {file}: ")
        assert step in answer.stderr
