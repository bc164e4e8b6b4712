"""Contexts: named sources, each in a separate file."""
