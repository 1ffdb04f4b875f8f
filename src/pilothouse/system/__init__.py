"""Access to the operating system: clocks, randomness, threads, locks, atomic and private files."""
