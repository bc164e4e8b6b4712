"""The embedded group coordinator, its members, and the simulation of both."""
