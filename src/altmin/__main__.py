"""``python -m altmin``: the command line."""

from altmin.cli.app import main

main()
