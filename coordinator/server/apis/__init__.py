"""One file per API: `answer(exchange)` gives the fields of the newest response.

A field that a later version brought is asked for with its default, as the request has the version it came in.
"""
