"""Java's clients, with the order of its maps."""
