"""Segments, batches, indexes on disk."""
