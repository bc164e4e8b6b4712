"""The numbers of a report: `numbers_of` computes them from the tables, `cli.verbs.fleet.report_page` draws them.

`numbers` needs no Spark, so that a page can be drawn from numbers in a file.
"""
