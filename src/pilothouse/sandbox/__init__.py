"""What keeps tools inside: paths beneath the workspace, processes that end with their call."""
