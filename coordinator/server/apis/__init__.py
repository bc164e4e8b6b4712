"""The APIs' handlers, in files as in `wire.messages.schemas`; each returns the fields of the newest response version. A
request of an older version has the default in every field that a later version added."""
