"""Measuring what this machine can do: arithmetic, moving bytes, and starting kernels."""
