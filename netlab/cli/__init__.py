"""The `netlab` command, and what only it does."""

from netlab.cli.commands import main

__all__ = ["main"]
