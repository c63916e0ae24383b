"""Cost rules: one module per family of operators."""
