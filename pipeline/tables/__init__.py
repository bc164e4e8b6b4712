"""The tables of a history: their schemas, and the computation of each from the tables before it."""
