"""sasl.mechanism=GSSAPI: the options of Java's Krb5LoginModule, and librdkafka's sasl.kerberos.*."""

from __future__ import annotations

from wire.client.config.config_file import Properties
from wire.client.config.jaas import LoginModule
from wire.client.security import KerberosSettings

MODULE = "Krb5LoginModule"
_SERVICE = "sasl.kerberos.service.name"


def kerberos_settings(properties: Properties, module: LoginModule | None) -> KerberosSettings:
    """The principal and the service; without a service name, librdkafka's default, kafka.

    :raises ConfigFileError: a keytab without its principal; two services
    """
    options = (
        {name: value.reveal() for name, value in module.options.items()}
        if module is not None and module.short_name == MODULE
        else {}
    )
    service, of_module = properties.text(_SERVICE), options.get("serviceName")
    if service and of_module and service != of_module:
        raise properties.error(_SERVICE, "sasl.jaas.config has another serviceName. Remove one of them.")
    keytab = properties.text("sasl.kerberos.keytab")
    if options.get("useKeyTab", "").lower() == "true":
        keytab = keytab or options.get("keyTab", "").removeprefix("file:")
        if not keytab:
            raise properties.error("sasl.jaas.config", "useKeyTab needs keyTab and principal.")
    principal = properties.text("sasl.kerberos.principal") or options.get("principal")
    if keytab and not principal:
        raise properties.error(
            "sasl.kerberos.keytab" if properties.text("sasl.kerberos.keytab") else "sasl.jaas.config",
            "a keytab needs the principal whose key is used.",
        )
    return KerberosSettings(
        service_name=service or of_module or "kafka",
        principal=principal or None,
        keytab=keytab or None,
        ccache=options.get("ticketCache") or None,
    )
