"""The user's session: open tabs, UI state and preferences."""
