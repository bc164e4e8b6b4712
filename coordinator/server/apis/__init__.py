"""A file per kind of API, as in `wire.messages.schemas`; each function gives the fields of the newest response.

A field that a later version brought is asked for with its default, as the request has the version it came in.
"""
