"""The scripts and programs that a command line names, and the limits on its text."""
