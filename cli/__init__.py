"""The command lines `kohort` and `kohort-consumer-groups`: each process runs one command and ends."""

import gc

# Imports and commands build large trees without cycles: looking for cycles costs a fifth of their time.
gc.set_threshold(200_000, 50, 50)
