"""The commonest mistakes, and what Kohort answers."""
