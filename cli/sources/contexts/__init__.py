"""Contexts: named sources, each in a file of its own."""
