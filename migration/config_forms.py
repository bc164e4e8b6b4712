"""The forms of files that contain settings of Kafka clients.

Properties; nested YAML and JSON, as Spring and Quarkus have them; environment variables in a file of NAME=VALUE
lines, in a compose file and in Kubernetes objects; ConfigMaps, whose values may be files.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from groups.yaml_files import TreeError, load_trees
from migration.client_config import ENVIRONMENT_NAME, Entry, kept
from wire.java_text import parse_properties

MAX_VALUES = 100_000  # Maximum number of values: YAML aliases can make a small file endless
_TREES = (".yaml", ".yml", ".json")
_PROFILES = ("spring.config.activate.on-profile", "spring.profiles")
_CONFIGS_OF_KUBERNETES = ("ConfigMap", "Secret")
_OF_BROKERS = ("ADVERTISED_LISTENERS", "BROKER_ID", "NODE_ID", "PROCESS_ROLES", "ZOOKEEPER_CONNECT")


class TooManyValues(ValueError):
    """A file has more values than a configuration has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigContent:
    """The entries of a file, and sentences about its parts that are not used."""

    entries: tuple[Entry, ...]
    unread: tuple[str, ...] = ()


def read_config(name: str, text: str) -> ConfigContent:
    """The entries of a file's text; its form follows from the ending of its name and from its content."""
    if PurePath(name).suffix.lower() not in _TREES:
        return _without_profiles(_documents_of_properties(text))
    documents: list[list[Entry]] = []
    unread: tuple[str, ...] = ()
    trees = [tree for tree in load_trees(Path(name), text) if tree is not None]
    if not trees or not all(isinstance(tree, dict) for tree in trees):
        raise TreeError(Path(name), 1, "", "expected a mapping of settings")
    for tree in trees:
        if isinstance(tree.get("services"), dict):
            content = _compose(tree["services"])
        else:
            walk = _Walk()
            content = ConfigContent(entries=tuple(walk.entries(tree)), unread=tuple(walk.unread))
        documents.append(list(content.entries))
        unread += content.unread
    entries = _without_profiles(documents)
    return replace(entries, unread=(*unread, *entries.unread))


def _documents_of_properties(text: str) -> Iterator[list[Entry]]:
    """The entries of each document: Spring separates them by a line `#---`."""
    ends = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() in ("#---", "!---")]
    entries = [_environment_line(entry.key, entry.value, entry.line) for entry in parse_properties(text)]
    for begin, end in zip([0, *ends], [*ends, len(text) + 1], strict=True):
        yield [entry for entry in entries if begin < (entry[2] or 0) < end]


def _environment_line(key: str, value: str, line: int) -> Entry:
    """An entry of a properties file, which may be a shell's `export NAME="value"  # comment`."""
    if key == "export" and "=" in value:
        key, _, value = value.partition("=")
    if ENVIRONMENT_NAME.fullmatch(key):
        value = value.strip()
        if value[:1] in ("'", '"') and value.find(value[0], 1) > 0:
            value = value[1 : value.index(value[0], 1)]
        else:
            value = value.partition(" #")[0].rstrip()
    return key, value, line


def _without_profiles(documents: Iterable[list[Entry]]) -> ConfigContent:
    """The entries of all documents except those that apply only with a profile of Spring."""
    entries: list[Entry] = []
    profiles: list[str] = []
    for document in documents:
        profile = next((value for key, value, _ in document if key in _PROFILES), None)
        if profile is None:
            entries += document
        else:
            profiles.append(profile)
    names = ", ".join(profiles)
    unread = f"Documents of Spring profiles ({names}) are not used: whether they apply is not known."
    return ConfigContent(entries=tuple(entries), unread=(unread,) if profiles else ())


def _compose(services: Mapping[str, object]) -> ConfigContent:
    """The environment of the service of a compose file that has consumer settings."""
    by_service: dict[str, tuple[Entry, ...]] = {}
    for name, service in services.items():
        entries = tuple(_Walk().entries(service))
        if not any(key.removeprefix("KAFKA_").removeprefix("CFG_") in _OF_BROKERS for key, _, _ in entries):
            by_service[str(name)] = entries
    clients = [name for name, entries in by_service.items() if any(kept(entries))]
    if len(clients) > 1:
        unread = f"The services {', '.join(clients)} have consumer settings: give each a separate file."
        return ConfigContent(entries=(), unread=(unread,))
    return ConfigContent(entries=tuple(entry for entries in by_service.values() for entry in entries))


class _Walk:
    """Flattens a tree: nested keys are joined by dots, and lists by commas."""

    def __init__(self) -> None:
        self._seen = 0
        self.unread: list[str] = []

    def entries(self, tree: object) -> Iterator[Entry]:
        is_kubernetes = isinstance(tree, dict) and "apiVersion" in tree and "kind" in tree
        yield from self._of((), tree, in_lists=is_kubernetes)

    def _of(self, where: tuple[str, ...], value: object, *, in_lists: bool) -> Iterator[Entry]:
        self._seen += 1
        if self._seen > MAX_VALUES:
            raise TooManyValues(f"has more than {MAX_VALUES} values, too many for a configuration file")
        if isinstance(value, dict):
            if value.get("kind") in _CONFIGS_OF_KUBERNETES and "apiVersion" in value:
                yield from self._of_config_map(value)
                return
            for key, inner in value.items():
                name = str(key)
                # A variable is named without its path.
                path = (name,) if ENVIRONMENT_NAME.fullmatch(name) else (*where, name)
                yield from self._of(path, inner, in_lists=in_lists)
        elif isinstance(value, list):
            yield from self._of_list(where, value, in_lists=in_lists)
        elif value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            yield ".".join(where), text, None

    def _of_list(self, where: tuple[str, ...], values: list[object], *, in_lists: bool) -> Iterator[Entry]:
        plain = [str(value) for value in values if isinstance(value, str | int)]
        pairs = [text.partition("=") for text in plain]
        if any(sign and ENVIRONMENT_NAME.fullmatch(name) for name, sign, _ in pairs):
            yield from ((name, text, None) for name, sign, text in pairs if sign)
        elif plain:
            yield ".".join(where), ",".join(plain), None
        for value in values:
            if isinstance(value, dict) and isinstance(value.get("name"), str) and "value" in value:
                yield from self._of((value["name"],), value["value"], in_lists=False)
            elif in_lists and isinstance(value, dict | list):
                yield from self._of(where, value, in_lists=True)

    def _of_config_map(self, tree: Mapping[str, object]) -> Iterator[Entry]:
        """A ConfigMap's variables and files; a Secret's values are read only where they are not encoded."""
        for field in ("data", "stringData") if tree["kind"] == "ConfigMap" else ("stringData",):
            values = tree.get(field)
            for name, value in values.items() if isinstance(values, dict) else ():
                is_file = PurePath(str(name)).suffix in (*_TREES, ".properties")
                if isinstance(value, str) and ("\n" in value or is_file):
                    content = read_config(name, value)
                    self.unread += content.unread
                    yield from ((key, text, None) for key, text, _ in content.entries)
                else:
                    yield from self._of((str(name),), value, in_lists=False)
