"""The command lines `kohort` and `kohort-consumer-groups`: each process runs one command."""

import gc

# Imports and commands build large trees without cycles: the search for cycles would cost a fifth of their time.
gc.set_threshold(200_000, 50, 50)
