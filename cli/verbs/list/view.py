"""The document of `kohort list`."""

from __future__ import annotations

from collections.abc import Sequence

from cli.render.document import Document, Table, columns
from groups.listing import GroupListing, Problem


def list_document(groups: Sequence[GroupListing], problems: tuple[Problem, ...]) -> Document:
    """A row per group, by id."""
    data = [
        {
            "group": group.id,
            "type": group.type.value,
            "protocol_type": group.protocol_type,
            "protocol": group.protocol,
            "state": group.state.value,
            "members": group.members,
        }
        for group in groups
    ]
    table = Table(
        columns=columns("GROUP", "TYPE", "PROTOCOL-TYPE", "PROTOCOL", "STATE", "##MEMBERS"),
        rows=[
            (
                group.id,
                group.type.value.capitalize(),
                group.protocol_type or None,
                group.protocol or None,
                group.state.value,
                group.members,
            )
            for group in groups
        ],
    )
    return Document(command="list", data={"groups": data}, blocks=[table], errors=problems)
