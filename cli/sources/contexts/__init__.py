"""Contexts: named sources in a configuration file, so that nobody types where the clusters are."""
