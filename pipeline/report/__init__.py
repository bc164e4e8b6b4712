"""The numbers of a report: `numbers` needs no Spark, so that a page can be drawn from numbers in a file."""
