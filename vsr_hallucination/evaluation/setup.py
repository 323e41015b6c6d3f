"""From what was typed to what runs: providers, judge, items, and the settings that a log remembers."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vsr_hallucination.evaluation import mmlu
from vsr_hallucination.evaluation.items import DataError, digest, load_csv, repeated_ids
from vsr_hallucination.evaluation.judge import ExactJudge, Judge, ModelJudge
from vsr_hallucination.evaluation.prompts import fingerprint
from vsr_hallucination.evaluation.providers.base import Provider, ProviderSetupError
from vsr_hallucination.evaluation.ratelimit import SlidingWindow
from vsr_hallucination.evaluation.retry import Retries
from vsr_hallucination.evaluation.scoring import Item

GEMINI_MODEL = "gemini-2.5-flash"
GEMINI_JUDGE = "gemini-2.5-flash-lite"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model somewhere. ``base_url`` None: Google's own for Gemini."""

    provider: str
    model: str
    base_url: str | None
    key_variable: str | None


def endpoint(args: argparse.Namespace) -> Endpoint:
    """The model under test. Raises ProviderSetupError where it is not determined."""
    provider = args.provider or _provider_of(args.model or GEMINI_MODEL, args.base_url)
    if provider == "gemini":
        return Endpoint("gemini", args.model or GEMINI_MODEL, args.base_url, None)
    if not args.model:
        raise ProviderSetupError("name the model to ask: --model NAME, as its server knows it")
    return _openai(args.model, args.base_url, args.api_key_env, "--base-url")


def judge_endpoint(args: argparse.Namespace, model: Endpoint) -> Endpoint:
    """The judging model: its own where one is named, else that of the model under test."""
    name, url = args.judge_model, args.judge_base_url
    if args.judge_provider:
        provider = args.judge_provider
    elif url or name:
        provider = _provider_of(name or model.model, url or model.base_url)
    else:
        provider = model.provider
    if provider == "gemini":
        own = url or (model.base_url if model.provider == "gemini" else None)
        return Endpoint("gemini", name or GEMINI_JUDGE, own, None)
    if not name and model.provider != "openai":
        raise ProviderSetupError("name the judging model: --judge-model NAME, as its server knows it")
    own = url or (model.base_url if model.provider == "openai" else None)
    return _openai(name or model.model, own, args.judge_api_key_env or args.api_key_env, "--judge-base-url")


def _provider_of(model: str, base_url: str | None) -> str:
    return "gemini" if model.startswith(("gemini", "models/gemini")) and not base_url else "openai"


def _openai(model: str, base_url: str | None, key_variable: str, flag: str) -> Endpoint:
    from vsr_hallucination.evaluation.providers.openai import PUBLIC_URL, checked_url

    url = checked_url(base_url or os.environ.get("OPENAI_BASE_URL", "").strip() or PUBLIC_URL)
    if url == PUBLIC_URL and not os.environ.get(key_variable, "").strip():
        raise ProviderSetupError(
            f"{key_variable} is not set, and {PUBLIC_URL} wants a key: export it, or name another server with {flag}"
        )
    return Endpoint("openai", model, url, key_variable)


def provider(at: Endpoint, args: argparse.Namespace, *, temperature: float) -> Provider:
    """Connects to an endpoint. Raises ProviderSetupError."""
    if at.provider == "gemini":
        from vsr_hallucination.evaluation.providers.gemini import GeminiProvider, GeminiSettings

        return GeminiProvider(
            GeminiSettings(
                at.model,
                args.thinking_budget,
                temperature,
                args.seed,
                args.timeout,
                args.concurrency,
                at.base_url,
            )
        )
    from vsr_hallucination.evaluation.providers.openai import OpenAIProvider, OpenAISettings

    assert at.base_url is not None
    return OpenAIProvider(
        OpenAISettings(
            at.model, at.base_url, at.key_variable, temperature, args.seed, args.timeout, args.concurrency
        )
    )


@dataclass(frozen=True, slots=True)
class Judging:
    """The judge, and what to close after it."""

    judge: Judge
    provider: Provider | None = None


def judging(args: argparse.Namespace, model: Endpoint, window: SlidingWindow, retries: Retries) -> Judging:
    """A judge at the model's own endpoint shares its request limit; one elsewhere has the same limit for itself."""
    if args.judge == "exact":
        return Judging(ExactJudge())
    at = judge_endpoint(args, model)
    asked = provider(at, args, temperature=0.0)
    shared = (at.provider, at.base_url) == (model.provider, model.base_url)
    judge_window = window if shared else SlidingWindow(args.rpm_limit)
    return Judging(ModelJudge(asked, judge_window, retries, max_tokens=args.judge_max_tokens), asked)


def csv_items(args: argparse.Namespace) -> tuple[Item, ...]:
    """The rows of ``--data``. Raises DataError."""
    if not args.data:
        raise DataError(
            "give the questions: --data FILE.csv with the columns id, question, gold, unknown_ok (or --demo)"
        )
    return load_csv(Path(args.data))


def mmlu_items(args: argparse.Namespace) -> tuple[Item, ...]:
    """MMLU as the arguments say. Raises DataError."""
    if args.data_dir:
        questions = mmlu.from_folder(Path(args.data_dir), args.split, args.subjects)
    else:
        questions = mmlu.from_hub(args.split, args.subjects, args.dataset)
    if not questions:
        raise DataError(f"no question of split {args.split} for {', '.join(args.subjects)}")
    return mmlu.items(questions, args.split, limit=args.limit, idk_frac=args.idk_frac, seed=args.seed)


def log_settings(
    args: argparse.Namespace, model: Endpoint, items: tuple[Item, ...], thresholds: tuple[float, ...]
) -> dict[str, Any]:
    """What the outcomes depend on: a run is resumed only under the same. The URL is not among them: the same model
    may be reached through another gateway."""
    settings: dict[str, Any] = {
        "data": digest(items),
        "items": len(items),
        "thresholds": list(thresholds),
        "prompt": fingerprint(),
        "provider": model.provider,
        "model": model.model,
        "temperature": args.temperature,
        "seed": args.seed,
        "max_tokens": args.max_tokens,
        "judge": args.judge,
    }
    if model.provider == "gemini":
        settings["thinking_budget"] = args.thinking_budget
    if args.judge == "llm":
        at = judge_endpoint(args, model)
        settings["judge_provider"], settings["judge_model"] = at.provider, at.model
        settings["judge_max_tokens"] = args.judge_max_tokens
    return settings


def notes_before(args: argparse.Namespace, model: Endpoint, items: tuple[Item, ...]) -> list[str]:
    """What a reader of the figures should know."""
    notes = []
    again = repeated_ids(items)
    if again:
        shown = ", ".join(again[:5]) + (" …" if len(again) > 5 else "")
        notes.append(f"{len(again)} ids stand for more than one row ({shown}): told apart by the column row")
    if args.thinking_budget and model.provider != "gemini":
        notes.append("--thinking-budget has no meaning for this API: it was not sent")
    return notes
