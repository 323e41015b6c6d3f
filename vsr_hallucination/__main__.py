"""``python -m vsr_hallucination``: the command line."""

import sys

from vsr_hallucination.cli import main

sys.exit(main())
