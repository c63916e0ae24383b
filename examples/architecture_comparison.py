"""Five families of networks in every framework that is installed: times, and how near they come to the device's limit.

    python examples/architecture_comparison.py [--peak-flops 3.6e12 --memory-bandwidth 100e9] [--batch 16] [--help]

It is the command `neural-cost-compare`.
"""

from neural_cost.commands.compare_families import main

if __name__ == "__main__":
    main()
