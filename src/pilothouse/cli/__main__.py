"""`python -m pilothouse.cli` is the command `pilothouse`."""

import sys

from pilothouse.cli import main

sys.exit(main())
