"""A certificate authority, a broker and a client, made with openssl."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

KEY_PASSWORD = "key-secret"


def need_openssl() -> None:
    """Skip the test where there is no openssl; where a real Kafka is required, it fails."""
    if shutil.which("openssl") is None:
        reason = "the openssl command is needed to make certificates"
        if os.environ.get("KOHORT_REQUIRE_KAFKA") == "1":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)


def make_certificates(directory: Path) -> None:
    """Write ca.pem, other-ca.pem, client.*, broker.store.pem and, of yesterday, expired.*. A store holds key and chain
    in one file. The broker's certificate is for 127.0.0.1 only, not for localhost."""
    for name in ("ca", "other-ca"):
        _openssl(
            directory,
            *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}"),
            *("-keyout", f"{name}.key", "-out", f"{name}.pem"),
        )
    (directory / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    for name, days in (("broker", 2), ("client", 2), ("expired", -1)):
        _openssl(
            directory,
            *("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}"),
            *("-keyout", f"{name}.key", "-out", f"{name}.csr"),
        )
        _openssl(
            directory,
            *("x509", "-req", "-in", f"{name}.csr", "-days", str(days), "-CA", "ca.pem", "-CAkey", "ca.key"),
            *("-CAcreateserial", "-extfile", "names", "-out", f"{name}.pem"),
        )
        _openssl(directory, "pkcs8", "-topk8", "-nocrypt", "-in", f"{name}.key", "-out", f"{name}.pk8")
        store = (directory / f"{name}.pk8").read_text() + (directory / f"{name}.pem").read_text()
        (directory / f"{name}.store.pem").write_text(store)
    _openssl(
        directory,
        *("pkcs8", "-topk8", "-v2", "aes-256-cbc", "-passout", f"pass:{KEY_PASSWORD}"),
        *("-in", "client.key", "-out", "client.encrypted.key"),
    )


def _openssl(directory: Path, *args: str) -> None:
    subprocess.run(["openssl", *args], cwd=directory, check=True, capture_output=True)
