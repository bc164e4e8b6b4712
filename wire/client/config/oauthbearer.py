"""sasl.mechanism=OAUTHBEARER: the source of the token, by Java's names, librdkafka's and Kohort's own."""

import shlex
from collections.abc import Mapping
from contextlib import suppress

from wire.client.config.config_file import Properties, check_writers
from wire.client.config.jaas import LoginModule
from wire.client.security import (
    MetadataEndpoint,
    OAuthSettings,
    Secret,
    TokenCommand,
    TokenEndpoint,
    TokenFile,
    TokenProvider,
)

MODULE = "OAuthBearerLoginModule"
IAM_MODULE = "IAMLoginModule"
IAM_MECHANISM = "AWS_MSK_IAM"
"""Amazon's mechanism has the same listener and identity as its OAUTHBEARER, which Kohort uses there."""

ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
COMMAND, PROVIDER = "kohort.token.command", "kohort.token.provider"
_TIMEOUT = "kohort.token.timeout.ms"
_DEFAULT_TIMEOUT_MS = 30_000
_CLIENT_ID = "sasl.oauthbearer.client.credentials.client.id"
_CLIENT_SECRET = "sasl.oauthbearer.client.credentials.client.secret"  # noqa: S105
_OPTIONS = "sasl.oauthbearer.config"
_IDENTITY = "sasl.oauthbearer.metadata.authentication.type"
_HANDLER = "sasl.login.callback.handler.class"
_UNSECURED = "enable.sasl.oauthbearer.unsecure.jwt"
_EXTENSION = "extension_"
_SCHEMES = ("http://", "https://", "file:")
_AZURE_METADATA = "http://169.254.169.254/metadata/identity/oauth2/token"  # the URL that librdkafka requests

_OF_HANDLERS: Mapping[str, str] = {
    "IAMClientCallbackHandler": "aws-msk-iam",
    "IAMOAuthBearerLoginCallbackHandler": "aws-msk-iam",
    "KafkaOAuth2AuthenticateCallbackHandler": "azure",
    "GcpLoginCallbackHandler": "gcp",
}
"""Providers that replace Java classes: of Amazon, com.azure.spring.cloud and com.google.cloud.hosted."""
_KAFKAS_HANDLERS = frozenset({"OAuthBearerLoginCallbackHandler", "OAuthBearerUnsecuredLoginCallbackHandler"})


def oauth_settings(properties: Properties, module: LoginModule | None) -> OAuthSettings | None:
    """The token's source; None if only librdkafka can get it. Properties precede the login module's options."""
    options = module.options if module is not None and module.short_name in (MODULE, IAM_MODULE) else {}
    extensions = _extensions(properties, options)
    command = properties.text(COMMAND)
    provider = properties.text(PROVIDER) or _equivalent_provider(properties)
    if command and properties.text(PROVIDER):
        raise properties.error(COMMAND, f"{PROVIDER} is set too. Remove one of them.")
    source: TokenCommand | TokenProvider
    if command:
        path = properties.path
        with suppress(OSError):  # a pipe that has been read, and is gone
            check_writers(
                path, path.stat(), f"run any command ({COMMAND})", f"Make it yours: cp {path} FILE."
            )
        words = tuple(_words(properties, COMMAND))
        source = TokenCommand(arguments=words, timeout_ms=properties.positive(_TIMEOUT, _DEFAULT_TIMEOUT_MS))
        return OAuthSettings(source=source, extensions=extensions)
    if provider:
        scope = properties.secret("sasl.oauthbearer.scope")
        all_options = {**options, **_free_options(properties), **({"scope": scope} if scope else {})}
        names = sorted(name for name in all_options if not name.startswith(_EXTENSION))
        source = TokenProvider(name=provider, options=tuple((name, all_options[name]) for name in names))
        return OAuthSettings(source=source, extensions=extensions)
    if (properties.text(_IDENTITY) or "").lower() == "azure_imds":
        return OAuthSettings(source=_azure_metadata(properties), extensions=extensions)
    grant = properties.text("sasl.oauthbearer.grant.type") or "client_credentials"
    retriever = properties.text("sasl.oauthbearer.jwt.retriever.class") or ""
    identity = properties.text(_IDENTITY) or "none"
    if (
        properties.flag(_UNSECURED, False)
        or grant != "client_credentials"
        or retriever.endswith("JwtBearerJwtRetriever")
        or identity != "none"
    ):
        return None
    return OAuthSettings(source=_endpoint(properties, options), extensions=extensions)


def _equivalent_provider(properties: Properties) -> str | None:
    if (properties.text("sasl.mechanism") or "").upper() == IAM_MECHANISM:
        return "aws-msk-iam"
    if (properties.text(_IDENTITY) or "").lower() == "aws_iam":
        return "aws-sts"
    return _OF_HANDLERS.get(_short_name(properties.text(_HANDLER) or ""))


def _short_name(java_class: str) -> str:
    return java_class.rpartition(".")[2]


def _words(properties: Properties, key: str) -> list[str]:
    try:
        return shlex.split(properties.text(key) or "")
    except ValueError:
        raise properties.error(key, "a quote is not closed.") from None


def _free_options(properties: Properties) -> dict[str, Secret]:
    """``NAME=VALUE NAME=VALUE``, the format of librdkafka's sasl.oauthbearer.config."""
    parts = _words(properties, _OPTIONS)
    if any("=" not in part for part in parts):
        raise properties.error(_OPTIONS, "every option is written as NAME=VALUE, separated by spaces.")
    return {name: Secret(value) for name, _, value in (part.partition("=") for part in parts)}


def _azure_metadata(properties: Properties) -> MetadataEndpoint:
    """librdkafka's ``sasl.oauthbearer.config=query=api-version=…&resource=…``."""
    query = _free_options(properties).get("query")
    url = properties.text(ENDPOINT)
    if query is None and not url:
        message = f"azure_imds needs {_OPTIONS}=query=api-version=2018-02-01&resource=URI&client_id=ID."
        raise properties.error(_IDENTITY, message)
    if url and not url.lower().startswith(("http://", "https://")):
        raise properties.error(ENDPOINT, "it is not a URL that starts with https:// or http://.")
    base = url or _AZURE_METADATA
    separator = "&" if "?" in base else "?"
    return MetadataEndpoint(url=base if query is None else f"{base}{separator}{query.reveal()}")


def _endpoint(properties: Properties, options: dict[str, Secret]) -> TokenEndpoint | TokenFile:
    endpoint = properties.text(ENDPOINT) or ""
    if not endpoint:
        raise _no_source(properties, options)
    if not endpoint.lower().startswith(_SCHEMES):
        raise properties.error(ENDPOINT, "it is not a URL that starts with https://, http:// or file:.")
    if "@" in endpoint:
        message = f"a URL with a login in it is not accepted. Set {_CLIENT_ID} and {_CLIENT_SECRET}."
        raise properties.error(ENDPOINT, message)
    if endpoint.lower().startswith("file:"):
        return TokenFile(url=endpoint)
    client_id = properties.text(_CLIENT_ID) or _option(options, "clientId")
    secret = properties.secret(_CLIENT_SECRET) or options.get("clientSecret")
    if not client_id or secret is None:
        missing = "client's id" if not client_id else "client's secret"
        raise properties.error(
            ENDPOINT,
            f"the {missing} is missing. Set {_CLIENT_ID} and {_CLIENT_SECRET}, or clientId and clientSecret "
            "in sasl.jaas.config.",
        )
    return TokenEndpoint(
        url=endpoint,
        client_id=client_id,
        client_secret=secret,
        scope=properties.text("sasl.oauthbearer.scope") or _option(options, "scope") or None,
        url_encode_header=properties.flag("sasl.oauthbearer.header.urlencode", False),
        ca_path=properties.text("https.ca.location") or None,
        ca_pem=properties.text("https.ca.pem") or None,
    )


def _no_source(properties: Properties, options: dict[str, Secret]) -> Exception:
    if any(option.startswith("unsecuredLogin") for option in options):
        message = f"unsecured tokens need {_UNSECURED}=true and sasl.oauthbearer.config=principal=NAME."
        return properties.error("sasl.jaas.config", message)
    handler = properties.text(_HANDLER) or ""
    if handler and _short_name(handler) not in _KAFKAS_HANDLERS:
        return properties.error(
            _HANDLER,
            f"{handler} is a Java class without an equivalent in Kohort. Set {COMMAND} to a command that prints a "
            f"token, or {ENDPOINT}.",
        )
    return properties.error(
        "sasl.mechanism", f"OAUTHBEARER needs {ENDPOINT}, {COMMAND} or {PROVIDER}, which give a token."
    )


def _option(options: dict[str, Secret], name: str) -> str:
    value = options.get(name)
    return "" if value is None else value.reveal()


def _extensions(properties: Properties, options: dict[str, Secret]) -> tuple[tuple[str, str], ...]:
    """Java's ``extension_logicalCluster="lkc-1"``, librdkafka's ``logicalCluster=lkc-1,…``."""
    extensions = {
        name.removeprefix(_EXTENSION): value.reveal()
        for name, value in options.items()
        if name.startswith(_EXTENSION)
    }
    text = properties.text("sasl.oauthbearer.extensions") or ""
    for part in filter(None, map(str.strip, text.split(","))):
        name, sign, value = part.partition("=")
        if not sign:
            raise properties.error("sasl.oauthbearer.extensions", "every extension is written as NAME=VALUE.")
        extensions[name.strip()] = value.strip()
    for name, value in extensions.items():
        # RFC 7628, section 3.1; auth is the token's own key.
        if not (name.isascii() and name.isalpha()) or name.lower() == "auth" or not value.isprintable():
            raise properties.error(
                "sasl.oauthbearer.extensions" if text else "sasl.jaas.config",
                f"{name!r} is not a valid extension: its name has letters only, its value nothing but text.",
            )
    return tuple(sorted(extensions.items()))
