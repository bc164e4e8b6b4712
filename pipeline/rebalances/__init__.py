"""The course of a group in its records: generations and epochs, and the owners of partitions."""
