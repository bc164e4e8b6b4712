"""The history and the readiness of whole fleets, which are too large for one machine, on Apache Spark."""
