"""sasl.mechanism=OAUTHBEARER with client credentials: Java's names, its login module's options, and librdkafka's."""

from __future__ import annotations

from wire.client.config.config_file import Properties
from wire.client.config.jaas import LoginModule
from wire.client.security import OAuthSettings, Secret

MODULE = "OAuthBearerLoginModule"
ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
_CLIENT_ID = "sasl.oauthbearer.client.credentials.client.id"
_CLIENT_SECRET = "sasl.oauthbearer.client.credentials.client.secret"  # noqa: S105
_UNSECURED = "enable.sasl.oauthbearer.unsecure.jwt"
_EXTENSION = "extension_"
_SCHEMES = ("http://", "https://", "file:")


def oauth_settings(properties: Properties, module: LoginModule | None) -> OAuthSettings | None:
    """Where the token comes from; None where only librdkafka can get one (another grant, an unsecured token).

    What a property says wins over the login module's option, as in Java.
    :raises ConfigFileError: the endpoint, the client's id or its secret is missing or malformed
    """
    if _only_librdkafka(properties):
        return None
    options = module.options if module is not None and module.short_name == MODULE else {}
    endpoint = properties.text(ENDPOINT) or ""
    if any(option.startswith("unsecuredLogin") for option in options) and not endpoint:
        raise properties.error(
            "sasl.jaas.config",
            f"unsecured tokens are asked for with {_UNSECURED}=true and sasl.oauthbearer.config=principal=NAME.",
        )
    if not endpoint:
        raise properties.error("sasl.mechanism", f"OAUTHBEARER needs {ENDPOINT}.")
    if not endpoint.lower().startswith(_SCHEMES):
        raise properties.error(ENDPOINT, "it is no URL. It begins with https://, http:// or file:.")
    if "@" in endpoint:
        raise properties.error(
            ENDPOINT, f"a URL with a login in it is not taken. Set {_CLIENT_ID} and {_CLIENT_SECRET}."
        )
    if endpoint.lower().startswith("file:"):
        return OAuthSettings(token_endpoint=endpoint, extensions=_extensions(properties, options))
    client_id = properties.text(_CLIENT_ID) or _option(options, "clientId")
    secret = properties.secret(_CLIENT_SECRET) or options.get("clientSecret")
    if not client_id or secret is None:
        missing = "client's id" if not client_id else "client's secret"
        raise properties.error(
            ENDPOINT,
            f"the {missing} is missing. Set {_CLIENT_ID} and {_CLIENT_SECRET}, or clientId and clientSecret "
            "in sasl.jaas.config.",
        )
    return OAuthSettings(
        token_endpoint=endpoint,
        client_id=client_id,
        client_secret=secret,
        scope=properties.text("sasl.oauthbearer.scope") or _option(options, "scope") or None,
        extensions=_extensions(properties, options),
        url_encode_header=properties.flag("sasl.oauthbearer.header.urlencode", False),
        ca_path=properties.text("https.ca.location") or None,
        ca_pem=properties.text("https.ca.pem") or None,
    )


def _only_librdkafka(properties: Properties) -> bool:
    grant = properties.text("sasl.oauthbearer.grant.type") or "client_credentials"
    retriever = properties.text("sasl.oauthbearer.jwt.retriever.class") or ""
    identity = properties.text("sasl.oauthbearer.metadata.authentication.type") or "none"
    return (
        properties.flag(_UNSECURED, False)
        or grant != "client_credentials"
        or retriever.endswith("JwtBearerJwtRetriever")
        or identity != "none"
    )


def _option(options: dict[str, Secret], name: str) -> str:
    value = options.get(name)
    return "" if value is None else value.reveal()


def _extensions(properties: Properties, options: dict[str, Secret]) -> tuple[tuple[str, str], ...]:
    """``extension_logicalCluster="lkc-1"`` of Java, ``logicalCluster=lkc-1,…`` of librdkafka."""
    found = {
        name.removeprefix(_EXTENSION): value.reveal()
        for name, value in options.items()
        if name.startswith(_EXTENSION)
    }
    text = properties.text("sasl.oauthbearer.extensions") or ""
    for part in filter(None, map(str.strip, text.split(","))):
        name, sign, value = part.partition("=")
        if not sign:
            raise properties.error("sasl.oauthbearer.extensions", "every extension is written as NAME=VALUE.")
        found[name.strip()] = value.strip()
    for name, value in found.items():
        # RFC 7628, section 3.1; auth is the token's own key.
        if not (name.isascii() and name.isalpha()) or name.lower() == "auth" or not value.isprintable():
            raise properties.error(
                "sasl.oauthbearer.extensions" if text else "sasl.jaas.config",
                f"{name!r} is no extension: its name has letters only, its value nothing but text.",
            )
    return tuple(sorted(found.items()))
