"""The APIs' handlers, in files as in `wire.messages.schemas`; each returns the fields of the newest version."""
