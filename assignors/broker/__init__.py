"""The broker's own: uniform and range."""
