"""Connections, logins, requests."""
