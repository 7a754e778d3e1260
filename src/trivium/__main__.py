"""`python -m trivium` is the console script."""

from trivium.cli import main

main()
