"""Results on their way out: CSV and Markdown, tables of devices, stdout and files."""
