"""Judging a command line before it runs: what it starts, and whether all of it only reads."""

from pilothouse.sandbox.shell.judging import Judgement, judge

__all__ = ["Judgement", "judge"]
