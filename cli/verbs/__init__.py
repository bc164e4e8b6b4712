"""One command each, with the name of its file."""
