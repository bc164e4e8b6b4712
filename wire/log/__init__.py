"""Segments, batches and indexes on disk. A batch of format v2 is a header (`batch_header`), then records
(`log_records`), compressed together or not (`compression`); `columns` reads whole segments at once."""
