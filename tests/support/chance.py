"""Whether made-up cases are the same in every run. They are in `make test`: what fails there fails for everybody.
KOHORT_RANDOM=1 draws new ones, as the long runs do."""

import os
import secrets

IS_RANDOM = bool(os.environ.get("KOHORT_RANDOM"))


def seed(variable: str) -> str:
    """The seed, in hexadecimal digits, from the variable; else "0", or a fresh one if cases are random."""
    return os.environ.get(variable) or (secrets.token_hex(4) if IS_RANDOM else "0")
