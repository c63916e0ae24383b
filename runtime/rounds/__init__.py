"""Backends in processes of their own, timed in turns."""
