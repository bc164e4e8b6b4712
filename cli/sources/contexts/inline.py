"""The client properties of a context, with their secrets fetched."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cli.sources.contexts.model import Context, PropertyValue, ValueStore
from wire.client.config.config_file import ConfigFileError
from wire.client.security import ConnectionSettings
from wire.java_text import Property

COMMAND_TIMEOUT_MS = 30_000  # Timeout of a command that prints a secret; some ask the user on another device

_NOT_EVEN_GUESSED = frozenset({"sasl.jaas.config", "sasl.mechanism", "sasl.mechanisms", "security.protocol"})
_CHOICES = {"enable.ssl.certificate.verification": "true"} | dict.fromkeys(
    ("ssl.keystore.type", "ssl.truststore.type"), "PEM"
)


@dataclass(frozen=True, slots=True)
class InlineProperties:
    context: Context

    def settings(self) -> ConnectionSettings:
        """The client settings, without bootstrap servers. ConfigFileError if one or a secret is unusable."""
        return self._settings(self.entries())

    def entries(self) -> list[Property]:
        """Each property, as in a properties file. Raises ConfigFileError: a secret is not available."""
        return [self._entry(value, self._fetched(value)) for value in self.context.properties]

    def check(self) -> tuple[str, ...]:
        """Warnings, as far as they are known without the secrets. ConfigFileError for unusable properties."""
        remarks: tuple[str, ...] = ()
        if self.context.command_config is not None:
            from wire.client.config.properties import load_properties

            remarks = load_properties(self.context.command_config).remarks
        texts = [(value, self._fetched_or_not(value)) for value in self.context.properties]
        settings = self._settings([self._entry(value, text) for value, text in texts if text is not None])
        return (*remarks, *settings.remarks)

    def _fetched_or_not(self, value: PropertyValue) -> str | None:
        """The value, or a valid substitute if it is unavailable or a command would be run: a check runs none."""
        if value.store is not ValueStore.COMMAND:
            with suppress(ConfigFileError):
                return self._fetched(value)
        guess = "1" if value.key.endswith(".ms") else "-"
        return None if value.key in _NOT_EVEN_GUESSED else _CHOICES.get(value.key, guess)

    def _entry(self, value: PropertyValue, text: str) -> Property:
        from wire.java_text import Property

        return Property(key=value.key, value=text, line=self._position(value)[0] or 0)

    def _position(self, value: PropertyValue) -> tuple[int, int] | tuple[None, None]:
        return self.context.origin.position("properties", value.key)

    def _settings(self, entries: Sequence[Property]) -> ConnectionSettings:
        from wire.client.config.properties import settings_of

        try:
            return settings_of(self.context.origin.file, entries)
        except ConfigFileError as error:
            raise self._with_column(error) from None

    def _with_column(self, error: ConfigFileError) -> ConfigFileError:
        """The error with its column, if no other property is on the same line."""
        positions = [self._position(value) for value in self.context.properties]
        columns = {column for line, column in positions if line == error.line}
        line = self.context.origin.position()[0] if error.line is None else error.line or None
        column = columns.pop() if len(columns) == 1 and line else None
        message = f"the context {self.context.name}: {error.message}"
        return ConfigFileError(self.context.origin.file, line, message, column=column)

    def _error(self, value: PropertyValue, message: str) -> ConfigFileError:
        line, column = self._position(value)
        return ConfigFileError(self.context.origin.file, line, f"{value.key}{message}", column=column)

    def _fetched(self, value: PropertyValue) -> str:
        if value.store is ValueStore.LITERAL:
            return value.text
        if value.store is ValueStore.FILE:
            from cli.sources.contexts.location import read_secret_file

            return read_secret_file(Path(value.text))
        if value.store is ValueStore.ENVIRONMENT:
            if text := os.environ.get(value.text):
                return text
            raise self._error(
                value, f" is kept in the environment variable {value.text}, which is not set. Set it."
            )
        import shlex

        from wire.client.commands import CommandFailed, printed_by
        from wire.client.steps import Deadline

        arguments = shlex.split(value.text)
        try:
            return printed_by(arguments, Deadline(COMMAND_TIMEOUT_MS))
        except CommandFailed as error:
            raise self._error(value, f": the command {arguments[0]} {error}") from None
