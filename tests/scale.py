"""Whether the long tests run with their full counts (`make test-long`) or as a sample (`make test`)."""

import os
from collections.abc import Callable

LONG = os.environ.get("PILOTHOUSE_LONG") == "1"

# What `record_property` gives: a figure recorded so is printed at the end of the run.
Record = Callable[[str, object], None]
