"""What touches the machine: hardware detection, calibration, timing, runners."""
