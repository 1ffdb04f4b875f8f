"""Compression of a branch: the plan, the summary, and the commit that replaces the messages."""
