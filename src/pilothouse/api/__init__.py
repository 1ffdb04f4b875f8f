"""The views that clients receive, and an example of each."""
