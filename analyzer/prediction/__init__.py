"""The latency that a model is expected to have on a calibrated machine, without running it."""
