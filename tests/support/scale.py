"""Whether the long tests run with their full counts (`make test-long`) or as a sample (`make test`)."""

import os
from collections.abc import Callable

LONG = os.environ.get("PILOTHOUSE_LONG") == "1"

HANG_SECONDS = 300 if LONG else 45
"""How long a test waits for what must happen at once. This ends what hangs, and is no measure of speed."""

# The type of `record_property`: a recorded figure is printed at the end of the run.
Record = Callable[[str, object], None]
