"""Whether the long tests run with their full counts (`make test-long`) or as a sample (`make test`)."""

import os

LONG = os.environ.get("PILOTHOUSE_LONG") == "1"
