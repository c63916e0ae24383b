"""Datasheet tables as CSV: devices and CPU microarchitectures, each row with its source and confidence."""
