"""What a report says, in numbers: `numbers_of` makes them of the tables, `cli.verbs.fleet.report_page` draws them.

`numbers` needs no Spark, so that a page can be drawn where the numbers came from a file.
"""
