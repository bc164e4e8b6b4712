"""Every group of a fleet's snapshots planned and rehearsed: which are safe, their costs, and the order to migrate."""
