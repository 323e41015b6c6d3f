"""A large configuration loads clean, and loading needs none of the heavy libraries (its cost: tests/soak)."""

from __future__ import annotations

import subprocess
import sys

from support.large_config import LINES, large
from vsr_hallucination.config import loads


def test_two_thousand_lines_load_without_a_word() -> None:
    text = large()
    assert LINES - 100 <= text.count("\n") <= LINES + 20
    assert loads(text).warnings == ()


def test_validating_imports_neither_torch_nor_a_model_library() -> None:
    heavy = ("torch", "transformers", "numpy", "tokenizers", "grpc", "sqlalchemy", "pydantic")
    code = (
        "import sys\n"
        "from vsr_hallucination.config import loads\n"
        f"loads({large()!r})\n"
        f"print('HEAVY', [name for name in {heavy!r} if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=110)
    assert shown.stdout.splitlines()[-1] == "HEAVY []", shown.stdout[-300:] + shown.stderr[-2000:]
