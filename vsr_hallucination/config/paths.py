"""Directories that a configuration names."""

from __future__ import annotations

from pathlib import Path


def model_directory(model: str) -> Path | None:
    """The directory that ``model`` names; None where there is none, or none that can be looked at."""
    try:
        path = Path(model).expanduser()
        return path if path.is_dir() else None
    except (OSError, RuntimeError, ValueError):  # too long, not permitted; nobody's home; a NUL
        return None
