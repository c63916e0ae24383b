"""`python -m neural_cost` is the command."""

from neural_cost.cli import main

if __name__ == "__main__":
    main()
