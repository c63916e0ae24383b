"""A report as rows, and as text and HTML for people."""
