"""How a command of ours ends: errors that a user can mend are one line, Ctrl-C is 130."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import typer

from altmin.cli.ctrl_c import listening, pressed


def run(app: typer.Typer, name: str, debug: Callable[[], bool]) -> None:
    """Run the command line and leave the process.

    Parameters
    ----------
    app : typer.Typer
        The commands.
    name : str
        What messages begin with.
    debug : callable
        Whether tracebacks were asked for; known only once the options were read.
    """

    def show_warning(message: Any, category: type[Warning], *where: Any) -> None:
        # Where in the code a warning arose helps nobody at a shell.
        if debug() or not issubclass(category, DeprecationWarning | FutureWarning):
            typer.secho(f"{name}: warning: {message}", fg="yellow", err=True)

    warnings.showwarning = show_warning  # type: ignore[assignment]
    with listening():
        code = _code(app, name, debug)
        sys.exit(130 if pressed() else code)


def _code(app: typer.Typer, name: str, debug: Callable[[], bool]) -> int:
    """Run the command; what a user can mend is told in one line."""
    try:
        return app(standalone_mode=False) or 0  # the code of typer.Exit
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except Exception as error:
        if pressed():  # an import that Ctrl-C breaks off may raise something else
            return 130
        told = getattr(error, "format_message", None)  # click's own errors: wrong usage
        if debug() and told is None:
            raise
        text = told() if told else str(error) or type(error).__name__
        typer.secho(f"{name}: {text}", fg="red", err=True)
        return 2 if told else 1
