"""Findings: what makes a model slower than it could be, what that may cost at most, and what to do."""
