"""The APIs' handlers, a file per kind of API as in `wire.messages.schemas`; each returns the newest response's fields.

A request of an older version has the default in every field that a later version added.
"""
