"""Whether made-up cases are the same in every run.

They are in `make test`: what fails there fails for everybody. KOHORT_RANDOM=1 draws new ones, as the long runs do.
"""

import os
import secrets

IS_DRAWN_ANEW = bool(os.environ.get("KOHORT_RANDOM"))


def seed(variable: str) -> str:
    """The seed, in hexadecimal digits, that the variable names; else "0", or a fresh one where cases are drawn anew."""
    return os.environ.get(variable) or (secrets.token_hex(4) if IS_DRAWN_ANEW else "0")
