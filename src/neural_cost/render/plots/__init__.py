"""Pictures of a report or a profile: the roofline with its points, and the gap as a waterfall."""
