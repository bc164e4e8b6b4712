"""`kohort record`: the flight recorder."""
