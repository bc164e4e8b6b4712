"""Documents as tables, JSON, CSV, markdown, HTML and pictures."""
