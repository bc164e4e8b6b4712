"""`python -m tests.conformance.serve …` is `kohort serve …`, wherever the command is installed."""

import sys

from cli.app import main

if __name__ == "__main__":
    sys.argv = ["kohort", "serve", *sys.argv[1:]]
    main()
