"""From source files to passages: extract, check the fields, chunk."""
