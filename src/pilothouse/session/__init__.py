"""The user's session: what they have open and how they like it."""
