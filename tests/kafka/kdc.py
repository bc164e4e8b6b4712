"""A Kerberos realm on loopback: MIT's KDC, as Debian's packages krb5-kdc and krb5-admin-server install it."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.kafka.ports import HOST, free_ports
from tests.kafka.wait import wait_until

REALM = "KOHORT.TEST"
PROGRAMS = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit")
_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Realm:
    """A running realm, and the environment in which Kerberos' programs and libraries know it."""

    directory: Path
    env: Mapping[str, str]

    def keytab(self, principal: str) -> Path:
        file = self.directory / f"{principal.replace('/', '-')}.keytab"
        self.run("kadmin.local", "-q", f"addprinc -randkey {principal}")
        self.run("kadmin.local", "-q", f"ktadd -k {file} {principal}")
        return file

    def run(self, *command: str | Path) -> None:
        subprocess.run(command, env={**os.environ, **self.env}, check=True, capture_output=True)


def missing_programs() -> list[str]:
    return [program for program in PROGRAMS if shutil.which(program, path=_PATH) is None]


@contextmanager
def kerberos_realm(directory: Path) -> Iterator[Realm]:
    directory.mkdir()
    port = free_ports(1)[0]
    (directory / "krb5.conf").write_text(
        f"[libdefaults]\ndefault_realm = {REALM}\ndns_lookup_kdc = false\ndns_lookup_realm = false\n"
        "dns_canonicalize_hostname = false\nrdns = false\nudp_preference_limit = 1\n"
        f"[realms]\n{REALM} = {{\nkdc = {HOST}:{port}\n}}\n"
    )
    (directory / "kdc.conf").write_text(
        f"[realms]\n{REALM} = {{\ndatabase_name = {directory}/principal\nkey_stash_file = {directory}/stash\n"
        f"kdc_listen = {HOST}:{port}\nkdc_tcp_listen = {HOST}:{port}\n}}\n"
    )
    env = {
        "KRB5_CONFIG": str(directory / "krb5.conf"),
        "KRB5_KDC_PROFILE": str(directory / "kdc.conf"),
        "PATH": f"{os.environ['PATH']}:{_PATH}",
    }
    realm = Realm(directory=directory, env=env)
    realm.run("kdb5_util", "create", "-s", "-P", "master", "-r", REALM)
    log = directory / "kdc.log"
    with log.open("wb") as output:
        kdc = subprocess.Popen(
            ["krb5kdc", "-n"], env={**os.environ, **env}, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        probe = realm.keytab("probe")

        def answers() -> bool:
            command = ["kinit", "-k", "-t", str(probe), "-c", str(directory / "probe.cc"), "probe"]
            done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, check=False)
            return done.returncode == 0

        wait_until(answers, "the KDC answers")
        yield realm
    finally:
        kdc.terminate()
        kdc.wait()
