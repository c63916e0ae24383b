"""neural-cost: what a neural network costs, and how fast it could run."""
