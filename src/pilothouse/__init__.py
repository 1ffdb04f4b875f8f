"""Pilothouse: a self-hosted runtime for AI agents. Autonomy is a mode; a conversation is durable."""

__version__ = "0.1.0"
