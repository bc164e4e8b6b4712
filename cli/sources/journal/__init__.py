"""The journal of `kohort record`: one SQLite file."""
