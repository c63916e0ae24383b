"""Activation memory: what is alive when, by liveness over an execution order."""
