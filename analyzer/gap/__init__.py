"""The gap between what a run took and what the device could do, cause by cause."""
