"""Which nodes of the file each kernel of a runtime's rewritten graph stands for."""
