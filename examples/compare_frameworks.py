"""Frameworks beside each other on five families of networks: the same as architecture_comparison.py, by its older name.

    python examples/compare_frameworks.py [--peak-flops 3.6e12 --memory-bandwidth 100e9] [--batch 16] [--help]

It is the command `neural-cost-compare`.
"""

from neural_cost.commands.compare_families import main

if __name__ == "__main__":
    main()
