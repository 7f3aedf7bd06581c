"""Takes `python -m stillframe` for the command `stillframe`, and ends with its exit code.

Knows nothing but the command line's entry.
"""

from __future__ import annotations

import sys

from stillframe.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
