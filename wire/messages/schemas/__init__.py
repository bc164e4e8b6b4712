"""The schemas of the records' keys and values, as data: a file per kind of group."""
