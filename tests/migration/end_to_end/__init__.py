"""Printed plans, followed literally on a real broker while a producer writes."""
