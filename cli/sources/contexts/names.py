"""The names of contexts, for completion."""

from __future__ import annotations


def context_names() -> list[str]:
    """The names in the configuration file, sorted; none where it cannot be read. Never raises."""
    try:
        from cli.sources.contexts.file import config_path, config_text
        from cli.sources.contexts.nodes import Fields, parse_nodes

        path = config_path()
        root = None if path is None or not path.exists() else parse_nodes(config_text(path))
        contexts = root.entries["contexts"].value if isinstance(root, Fields) else None
        return sorted(contexts.entries) if isinstance(contexts, Fields) else []
    except Exception:  # a completion that fails says nothing
        return []
