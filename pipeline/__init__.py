"""What one machine is too small for: the history and the readiness of whole fleets, on Apache Spark."""
