"""The readiness of a whole fleet: what blocks each group's migration, what it would gain, and the order to
migrate."""
