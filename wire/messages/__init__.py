"""Requests, answers, records as bytes."""
