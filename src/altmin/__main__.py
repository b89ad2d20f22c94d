"""``altmin`` and ``python -m altmin``: the command line."""

import sys

from altmin.cli.ctrl_c import listening, pressed


def main() -> None:
    """Run the command that the arguments ask for."""
    with listening():  # before anything is imported that takes long
        try:
            from altmin.cli.app import main as run_command

            run_command()
        except BaseException:
            if pressed():
                sys.exit(130)
            raise


if __name__ == "__main__":
    main()
