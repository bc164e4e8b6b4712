"""Tokens of commands and providers: Amazon's, Azure's and Google's own libraries, with the cloud's side on loopback."""

import base64
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.kafka.http_server import Answer, Asked, http_server
from wire.client.config.properties import load_properties
from wire.client.errors import AuthenticationFailed, Unreachable, UnsupportedMechanism, WireError
from wire.client.steps import Deadline
from wire.client.tokens.source import TokenSource
from wire.client.tokens.token import Token
from wire.extras import install_command

MSK = ("b-1.demo.abcde.c2.kafka.eu-west-1.amazonaws.com:9098",)
HUBS = ("shop.servicebus.windows.net:9093",)
ALIKE = "accessSecret1234567890ABCDEFGHIJKLMN"


@pytest.fixture(autouse=True)
def without_identity(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "aws-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "aws-credentials"))


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", ALIKE)


def token(directory: Path, servers: tuple[str, ...], *lines: str, timeout_ms: int = 20_000) -> Token:
    """What a client of a file with these properties would log in with, by OAUTHBEARER if they name no mechanism."""
    file = directory / "client.properties"
    file.write_text("\n".join(("security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER", *lines)))
    settings = load_properties(file)
    assert settings.sasl_mechanism == "OAUTHBEARER"
    assert settings.oauth is not None
    return TokenSource(settings.oauth, servers).token(Deadline(timeout_ms))


def handled(handler: str, options: str = "") -> tuple[str, str]:
    module = f"sasl.jaas.config=x.OAuthBearerLoginModule required{options};"
    return f"sasl.login.callback.handler.class={handler}", module


IAM_CLASSES = "software.amazon.msk.auth.iam"
IAM = (
    "sasl.mechanism=AWS_MSK_IAM",
    f"sasl.client.callback.handler.class={IAM_CLASSES}.IAMClientCallbackHandler",
)
IAM_JAVA = f"{IAM_CLASSES}.IAMOAuthBearerLoginCallbackHandler"
IAM_JAAS = f"sasl.jaas.config={IAM_CLASSES}.IAMLoginModule required {{}};"


def signed_url(made: Token) -> tuple[str, dict[str, str]]:
    """Host and query of an MSK token: a signed URL in base64 without padding."""
    text = made.value.reveal()
    assert "=" not in text
    url = urlsplit(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode())
    return url.netloc, {name: values[0] for name, values in parse_qs(url.query).items()}


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("servers", "region", "lines"),
    [
        (MSK, "eu-west-1", (*IAM, IAM_JAAS.format(""))),
        (("boot-x.c1.kafka-serverless.us-east-2.amazonaws.com:9098",), "us-east-2", IAM),
        (("proxy:1", "b-2.x.y.c3.kafka.cn-north-1.amazonaws.com.cn:9098"), "cn-north-1", IAM),
        (("proxy:9098",), "ap-south-1", handled(IAM_JAVA, " region=ap-south-1")),
        (MSK, "sa-east-1", ("kohort.token.provider=aws-msk-iam", "sasl.oauthbearer.config=region=sa-east-1")),
    ],
    ids=["Amazon's file", "serverless", "China", "OAUTHBEARER of Java", "our own name"],
)  # fmt: skip
def test_an_msk_token_is_a_signed_request(
    tmp_path: Path, servers: tuple[str, ...], region: str, lines: tuple[str, ...]
) -> None:
    made = token(tmp_path, servers, *lines)
    host, query = signed_url(made)
    assert host == f"kafka.{region}.amazonaws.com"
    assert query["Action"] == "kafka-cluster:Connect"
    assert query["X-Amz-Credential"].startswith("AKIAEXAMPLE/")
    assert query["X-Amz-Credential"].endswith(f"/{region}/kafka-cluster/aws4_request")
    assert len(query["X-Amz-Signature"]) == 64
    assert query["X-Amz-Expires"] == "900"
    assert query["User-Agent"].startswith("aws-msk-iam-sasl-signer-python/")
    assert 890 < made.expires_s - time.time() <= 900


def test_an_msk_token_of_a_profile(tmp_path: Path) -> None:
    (tmp_path / "aws-credentials").write_text(
        "[ops]\naws_access_key_id = AKIAOPS\naws_secret_access_key = ops\naws_session_token = session\n"
    )
    _, query = signed_url(token(tmp_path, MSK, *IAM, IAM_JAAS.format('awsProfileName="ops"')))
    assert (query["X-Amz-Credential"][:8], query["X-Amz-Security-Token"]) == ("AKIAOPS/", "session")


STS = "https://sts.amazonaws.com/doc/2011-06-15/"


def sts_answer(action: str, fields: str) -> Answer:
    body = f'<{action}Response xmlns="{STS}"><{action}Result>{fields}</{action}Result></{action}Response>'
    return Answer(body=body.encode(), headers={"Content-Type": "text/xml"})


@pytest.fixture
def asked() -> list[Asked]:
    return []


@pytest.fixture
def sts(asked: list[Asked], keys: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    def answer(request: Asked) -> Answer:
        asked.append(request)
        if b"Action=GetWebIdentityToken" in request.body:
            return sts_answer(
                "GetWebIdentityToken",
                f"<WebIdentityToken>h.{claims(sub='role')}.s</WebIdentityToken>"
                "<Expiration>2100-01-01T00:00:00Z</Expiration>",
            )
        return sts_answer(
            "AssumeRole",
            "<Credentials><AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"
            "<SessionToken>of-the-role</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials>",
        )

    with http_server(answer) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", url)
        yield url


def claims(**fields: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")


def test_an_msk_token_of_a_role(tmp_path: Path, sts: str, asked: list[Asked]) -> None:
    role = 'awsRoleArn="arn:aws:iam::1:role/ops" awsRoleSessionName=me awsRoleExternalId=xx awsStsRegion=us-west-1'
    _, query = signed_url(token(tmp_path, MSK, *IAM, IAM_JAAS.format(role)))
    assert (query["X-Amz-Credential"][:9], query["X-Amz-Security-Token"]) == ("ASIAROLE/", "of-the-role")
    form = parse_qs(asked[0].body.decode())
    assert [form[name] for name in ("RoleArn", "RoleSessionName", "ExternalId")] == [
        ["arn:aws:iam::1:role/ops"], ["me"], ["xx"],
    ]  # fmt: skip
    assert "us-west-1" in asked[0].headers["Authorization"]


def test_a_token_of_sts_as_librdkafkas_settings_ask_for_it(
    tmp_path: Path, sts: str, asked: list[Asked]
) -> None:
    made = token(
        tmp_path,
        MSK,
        "sasl.oauthbearer.method=oidc",
        "sasl.oauthbearer.metadata.authentication.type=aws_iam",
        "sasl.oauthbearer.config=region=us-east-1 audience=https://confluent.cloud/oidc duration_seconds=600",
    )
    assert made.subject == "role"
    form = parse_qs(asked[0].body.decode())
    assert form["Audience.member.1"] == ["https://confluent.cloud/oidc"]
    assert (form["SigningAlgorithm"], form["DurationSeconds"]) == (["ES384"], ["600"])


@pytest.fixture
def managed_identity(asked: list[Asked], monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    def answer(request: Asked) -> Answer:
        asked.append(request)
        expires = str(int(time.time()) + 3600)
        body = {"access_token": f"h.{claims(sub='app')}.s", "expires_on": expires, "token_type": "Bearer"}
        return Answer(body=json.dumps(body).encode())

    with http_server(answer) as url:
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"{url}/msi/token")
        monkeypatch.setenv("IDENTITY_HEADER", "header")
        yield url


@pytest.mark.parametrize(
    ("servers", "resource", "lines"),
    [
        (
            HUBS, "https://shop.servicebus.windows.net",
            handled("com.azure.spring.cloud.service.implementation.kafka.KafkaOAuth2AuthenticateCallbackHandler"),
        ),
        (
            ("kafka:9093",), "api://kafka",
            ("kohort.token.provider=azure", "sasl.oauthbearer.scope=api://kafka/.default"),
        ),
    ],
    ids=["Event Hubs", "another cluster"],
)  # fmt: skip
def test_an_azure_token_is_for_the_namespace(
    tmp_path: Path,
    managed_identity: str,
    asked: list[Asked],
    servers: tuple[str, ...],
    resource: str,
    lines: tuple[str, ...],
) -> None:
    made = token(tmp_path, servers, *lines)
    assert made.subject == "app"
    assert parse_qs(urlsplit(asked[0].path).query)["resource"] == [resource]


def test_an_azure_token_by_librdkafkas_settings(tmp_path: Path) -> None:
    seen: list[Asked] = []

    def answer(request: Asked) -> Answer:
        seen.append(request)
        return Answer(body=json.dumps({"access_token": "opaque", "expires_in": "3599"}).encode())

    with http_server(answer) as url:
        made = token(
            tmp_path,
            HUBS,
            "sasl.oauthbearer.method=oidc",
            "sasl.oauthbearer.metadata.authentication.type=azure_imds",
            f"sasl.oauthbearer.token.endpoint.url={url}/metadata",
            "sasl.oauthbearer.config=query=api-version=2018-02-01&resource=api://kafka&client_id=1",
        )
    assert made.value.reveal() == "opaque"
    assert 3500 < made.expires_s - time.time() <= 3599
    assert seen[0].path == "/metadata?api-version=2018-02-01&resource=api://kafka&client_id=1"
    assert seen[0].headers["Metadata"] == "true"


def test_a_google_token_has_the_form_of_googles_handler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(_request: Asked) -> Answer:
        return Answer(body=json.dumps({"access_token": "ya29.a-token", "expires_in": 3599}).encode())

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    with http_server(answer) as url:
        account = {
            "type": "service_account",
            "client_email": "ops@shop.iam.gserviceaccount.com",
            "private_key": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
            "token_uri": f"{url}/token",
            "project_id": "shop",
        }
        (tmp_path / "account.json").write_text(json.dumps(account))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
        made = token(
            tmp_path,
            ("bootstrap.c.eu.managedkafka.shop.cloud.goog:9092",),
            *handled("com.google.cloud.hosted.kafka.auth.GcpLoginCallbackHandler"),
        )
    head, body, end = (
        base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in made.value.reveal().split(".")
    )
    assert (json.loads(head), end) == ({"typ": "JWT", "alg": "GOOG_OAUTH2_TOKEN"}, b"ya29.a-token")
    assert json.loads(body) == {
        "exp": int(made.expires_s),
        "iat": pytest.approx(time.time(), abs=60),
        "scope": "kafka",
        "sub": made.subject,
    }
    assert made.subject == "ops@shop.iam.gserviceaccount.com"


REFUSED: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], type[WireError], str]] = {
    "no AWS credentials": (IAM, MSK, AuthenticationFailed, "there are no AWS credentials. Run `aws configure` or"),
    "no region": (IAM, ("proxy:1",), AuthenticationFailed, "the region is not known from proxy:1. Set AWS_REGION"),
    "no such profile": (
        (*IAM, IAM_JAAS.format("awsProfileName=none")), MSK, AuthenticationFailed,
        "the token provider aws-msk-iam failed: ProfileNotFound: The config profile (none) could not be found",
    ),
    "no scope": (
        ("kohort.token.provider=azure",), ("kafka:9093",), AuthenticationFailed,
        "the scope is missing: kafka:9093 is not an Event Hubs namespace. Set sasl.oauthbearer.scope.",
    ),
    "no such provider": (
        ("kohort.token.provider=acme",), MSK, UnsupportedMechanism,
        "there is no provider 'acme', only aws-msk-iam, aws-sts, azure, gcp",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_provider_that_gives_no_token_says_why(tmp_path: Path, case: str) -> None:
    lines, servers, kind, said = REFUSED[case]
    with pytest.raises(kind) as caught:
        token(tmp_path, servers, *lines)
    assert said in str(caught.value)


def test_a_missing_extra_is_named_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wire.extras.MODULES", {"aws": ("no_such_module.of_aws",)})
    with pytest.raises(UnsupportedMechanism) as caught:
        token(tmp_path, MSK, *IAM)
    assert str(caught.value).endswith(f"Run: `{install_command('aws')}`")


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def install(body: str) -> None:
        (tmp_path / "acme_tokens.py").write_text(f"def acme(servers, options):\n    {body}\n")
        info = tmp_path / "acme-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
        (info / "entry_points.txt").write_text("[kohort.tokens]\nacme = acme_tokens:acme\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "acme_tokens", raising=False)

    return install


def of_acme(directory: Path, **limits: int) -> Token:
    return token(
        directory,
        ("kafka:9093",),
        "kohort.token.provider=acme",
        f"sasl.oauthbearer.config='of=a team' client_secret={ALIKE}",
        **limits,
    )


def test_a_package_can_bring_a_provider(tmp_path: Path, acme: Callable[[str], None]) -> None:
    acme("import time; return '-'.join([*servers, *options['of'].split()]), time.time() + 60")
    made = of_acme(tmp_path)
    assert made.value.reveal() == "kafka:9093-a-team"
    assert 50 < made.expires_s - time.time() <= 60


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        ("return 'a-token'", AuthenticationFailed, "must return a token and its expiry in seconds since 1970, and"),
        ("raise OSError('no ' + options['client_secret'])", AuthenticationFailed, "failed: OSError: no ***"),
        ("return 'a token', 1e10", AuthenticationFailed, "not a token"),
        ("import time; time.sleep(30)", Unreachable, "the token provider acme: timed out."),
        ("import no_such_module", AuthenticationFailed, "No module named 'no_such_module'"),
    ],
    ids=["one value", "an exception", "no token", "silence", "an import"],
)  # fmt: skip
def test_a_provider_of_a_package_that_fails(
    tmp_path: Path, acme: Callable[[str], None], body: str, kind: type[WireError], said: str
) -> None:
    acme(body)
    with pytest.raises(kind) as caught:
        of_acme(tmp_path, timeout_ms=1000)
    assert said in str(caught.value)
    assert ALIKE not in str(caught.value)


def command(directory: Path, text: str, *more: str) -> Token:
    escaped = text.replace("\\", "\\\\")
    return token(directory, ("kafka:9093",), f"kohort.token.command={escaped}", *more)


@pytest.mark.parametrize(
    ("text", "life_s"),
    [
        ("echo a-token", 300),
        ("""echo '{"access_token": "a-token", "expires_in": 120}'""", 120),
        ("""sh -c 'echo "{\\"accessToken\\": \\"a-token\\", \\"expires_on\\": $(($(date +%s) + 90))}"'""", 90),
        ("sh -c 'echo note >&2; echo a-token; exec 2>&-'", 300),
    ],
    ids=["text", "JSON", "az", "with a note"],
)  # fmt: skip
def test_a_command_prints_a_token(tmp_path: Path, text: str, life_s: float) -> None:
    made = command(tmp_path, text)
    assert made.value.reveal() == "a-token"
    assert life_s - 10 < made.expires_s - time.time() <= life_s + 1


FAILING: Mapping[str, tuple[str, type[WireError], str]] = {
    "not there": ("no-such-command --now", AuthenticationFailed, "cannot be run: No such file or directory."),
    "no shell": ("$HOME/bin/token", AuthenticationFailed, "It is run without a shell, so ~ and $VARIABLES stay"),
    "a status": ("sh -c 'echo log in first >&2; exit 3'", AuthenticationFailed, "(exit status 3): log in first. Run"),
    "a signal": ("sh -c 'kill -9 $$'", AuthenticationFailed, "failed (signal 9). Run it by hand"),
    "nothing": ("true", AuthenticationFailed, "the token command true printed nothing."),
    "words": ("echo log in first", AuthenticationFailed, "not a token: it is empty, or contains blanks"),
    "other JSON": ("""echo '{"token": "x"}'""", AuthenticationFailed, "printed JSON without an access_token."),
    "half JSON": ("""echo '{"access_token"'""", AuthenticationFailed, "neither a token nor JSON."),
    "an expired token": (
        """echo '{"access_token": "x", "expires_in": -5}'""", AuthenticationFailed, "has expired already."
    ),
    "its token on both": (f"sh -c 'echo {ALIKE}; echo {ALIKE} >&2; exit 1'", AuthenticationFailed, "1): ***. Run"),
    "too slow": ("sh -c 'sleep 60 & sleep 60'", Unreachable, "it did not finish in time. Allow more with kohort."),
    "too much": ("yes", AuthenticationFailed, "failed (signal 9)"),
}  # fmt: skip


@pytest.mark.parametrize("case", FAILING)
def test_a_command_that_prints_no_token_says_why(tmp_path: Path, case: str) -> None:
    text, kind, said = FAILING[case]
    began = time.monotonic()
    with pytest.raises(kind) as caught:
        command(tmp_path, text, f"kohort.token.timeout.ms={300 if case == 'too slow' else 20_000}")
    assert said in str(caught.value)
    assert ALIKE not in str(caught.value)
    assert time.monotonic() - began < 30
