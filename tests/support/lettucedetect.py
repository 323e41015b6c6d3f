"""The names that are used of the ``lettucedetect`` package, with the shapes recorded from its version 0.2.3."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest


def pretend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts modules of those names in the place of the package."""
    for name, found in {
        "lettucedetect": {},
        "lettucedetect.detectors": {},
        "lettucedetect.detectors.llm_client": {"build_generative_schema": schema},
        "lettucedetect.detectors.prompt_utils": {"PromptUtils": PromptUtils},
        "lettucedetect.prompts": {},
        "lettucedetect.prompts.generative": {"build_system_prompt": system, "build_user_message": user},
    }.items():
        module = ModuleType(name)
        module.__dict__.update(found)
        monkeypatch.setitem(sys.modules, name, module)


def system(explain: bool = False) -> str:
    return 'Quote each span verbatim from the answer. Reply with {"hallucinated_spans": []}.'


def user(context: str, answer: str) -> str:
    return f"{context}\n\nAnswer to verify:\n{answer}"


def schema(explain: bool = False) -> dict[str, Any]:
    text = {"type": "string"}
    item = {
        "type": "object",
        "properties": {"text": text, "category": text, "subcategory": text},
        "required": ["text", "category", "subcategory"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"hallucinated_spans": {"type": "array", "items": item}},
        "required": ["hallucinated_spans"],
        "additionalProperties": False,
    }


class PromptUtils:
    @staticmethod
    def format_context(context: list[str], question: str | None, lang: str) -> str:
        block = "\n".join(f"passage {n}: {text}" for n, text in enumerate(context, 1))
        return f"Briefly answer the following question:\n{question}\nthese passages:\n{block}\noutput:"
