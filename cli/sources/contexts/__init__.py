"""Contexts: named sources in a configuration file."""
