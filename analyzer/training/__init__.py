"""What training costs: the backward pass, what it needs saved, gradients and the state of the optimizer."""
