"""The command that `kohort migrate` runs for a consumer, as `systemctl` would be: has the supervisor that listens on a
port do it, and exits with the status that it is answered: `ctl.py PORT`."""

import json
import os
import socket
import sys

kohort = {name: value for name, value in os.environ.items() if name.startswith("KOHORT_")}
asked = {name.removeprefix("KOHORT_").lower(): value for name, value in kohort.items()}
address = ("127.0.0.1", int(sys.argv[1]))
with socket.create_connection(address) as supervisor, supervisor.makefile("rw") as lines:
    lines.write(json.dumps({**asked, "process": os.getpid()}) + "\n")
    lines.flush()
    answer = lines.readline()
status, said = json.loads(answer) if answer else (1, "the supervisor does not answer")
print(said)
sys.exit(status)
