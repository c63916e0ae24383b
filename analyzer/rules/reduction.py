"""Reduction."""
