"""Reports as text: tables for people, CSV and Markdown for programs and documents."""
