"""`python -m ragstone` is the command line."""

from ragstone.cli import main

main()
