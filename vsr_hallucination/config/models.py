"""``global.model_catalog``: which models judge, and under which numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from vsr_hallucination.config.cursor import Cursor, Fields
from vsr_hallucination.config.problems import nearest, words
from vsr_hallucination.config.schema import (
    DetectorSettings,
    EndpointSettings,
    ExplainerSettings,
    FactCheckSettings,
)

EMBEDDED = "embedded"
TOKEN_CLASSIFICATION = "token_classification"
ENDPOINT = "endpoint"
LEXICAL = "lexical"
BACKENDS: Mapping[str, str] = {
    TOKEN_CLASSIFICATION: TOKEN_CLASSIFICATION,
    ENDPOINT: ENDPOINT,
    LEXICAL: LEXICAL,
    "candle": TOKEN_CLASSIFICATION,  # upstream's word for its in-process classifier
}
PROMPTS: Mapping[str, str] = {"builtin": "builtin", "lettucedetect": "lettucedetect"}

# Names of model_catalog.system that stand for our embedded models where the file does not bind them.
DETECTOR_ROLE = "hallucination_detector"
FACT_CHECK_ROLE = "fact_check_classifier"
EXPLAINER_ROLE = "hallucination_explainer"
_ROLES = (DETECTOR_ROLE, FACT_CHECK_ROLE, EXPLAINER_ROLE)

_COMMON = frozenset(
    {
        "model_ref",
        "model_id",
        "threshold",
        "use_cpu",
        "max_sequence_length",
        "use_mmbert_32k",
        "use_modernbert",
        "variant",
        "window",
    }
)
_DETECTOR = _COMMON | {
    "backend",
    "endpoint",
    "include_explanation",
    "min_span_length",
    "min_span_confidence",
    "context_window_size",
    "enable_nli_filtering",
    "nli_entailment_threshold",
}
_ENDPOINT = words(
    """
    base_url model api_key api_key_env timeout timeout_seconds max_response_bytes prompt max_tokens
    """
)
_SPELLINGS = (
    ("hallucination_model", "detector"),
    ("fact_check_model", "fact_check"),
    ("nli_model", "explainer"),
)
_MITIGATION = frozenset({"enabled", "on_hallucination_detected", *(name for pair in _SPELLINGS for name in pair)})
# Knobs of upstream's engine that have no counterpart here, and why.
_UNUSED: Mapping[str, str] = {
    "max_sequence_length": "answers and evidence are read whole, in windows",
    "context_window_size": "evidence is read whole, in windows",
    "include_explanation": "a rule's use_nli asks for explanations",
    "window": "answers and evidence are read whole, in windows of this filter's own",
    "variant": "the model directory says what the model is",
    "on_hallucination_detected": "a decision's hallucination plugin says what happens: hallucination_action",
}


@dataclass(frozen=True, slots=True)
class Models:
    """The three models of a recipe. ``disabled``: where the file says ``enabled: false``, if it does."""

    detector: DetectorSettings
    fact_check: FactCheckSettings
    explainer: ExplainerSettings
    disabled: Cursor | None = None


@dataclass(frozen=True, slots=True)
class System:
    """``model_catalog.system``: names that ``model_ref`` may use, and what they stand for."""

    names: Mapping[str, Cursor]

    def resolve(self, name: str, at: Cursor) -> str | None:
        """The model ``name`` stands for; None, and an error noted, where nothing is bound to it."""
        bound = self.names.get(name)
        if bound is not None:
            return bound.text()
        if name in _ROLES:
            return EMBEDDED
        guess = nearest(name, [*self.names, *_ROLES])
        hint = f"did you mean `{guess}`?" if guess else "bind it there, or give model_id"
        at.error(f"`{name[:60]}` is not bound under global.model_catalog.system", hint)
        return None

    def role(self, name: str) -> str | None:
        """What the file binds to one of our roles, if anything."""
        bound = self.names.get(name)
        return bound.text() if bound is not None else None


def read_models(block: Cursor | None, system: System, base: Models) -> Models:
    """A ``hallucination_mitigation`` block over ``base``: keys that are missing keep base's values."""
    if block is None:
        return base
    fields = block.fields(_MITIGATION, owned=True)
    _unused(fields)
    detector, fact_check, explainer = (_either(fields, *pair) for pair in _SPELLINGS)
    disabled = fields.get("enabled") if fields.flag("enabled", True) is False else base.disabled
    return Models(
        detector=_detector(detector, system, base.detector),
        fact_check=_fact_check(fact_check, system, base.fact_check),
        explainer=_explainer(explainer, system, base.explainer),
        disabled=disabled,
    )


def default_models(system: System) -> Models:
    """The embedded models, or what ``model_catalog.system`` binds to their roles."""
    detector, fact_check, explainer = (system.role(role) or EMBEDDED for role in _ROLES)
    return Models(
        DetectorSettings(model=detector),
        FactCheckSettings(model=fact_check),
        ExplainerSettings(model=explainer),
    )


def _either(fields: Fields, first: str, second: str) -> Cursor | None:
    a, b = fields.get(first), fields.get(second)
    if a is not None and b is not None:
        line, column = a.mark
        b.error(
            f"`{second}` and `{first}` (at {line}:{column}) are two spellings of one block",
            "keep one of the two",
        )
    return a if a is not None else b


def _detector(block: Cursor | None, system: System, base: DetectorSettings) -> DetectorSettings:
    if block is None:
        return base
    fields = block.fields(_DETECTOR, owned=True)
    _unused(fields)
    settings = replace(
        base,
        backend=fields.choice("backend", base.backend, BACKENDS),
        model=_model(fields, system, base.model),
        threshold=fields.number("threshold", base.threshold, 0, 1),
        min_span_length=fields.integer("min_span_length", base.min_span_length, 0, 1000),
        min_span_confidence=fields.number("min_span_confidence", base.min_span_confidence, 0, 1),
        enable_nli_filtering=fields.flag("enable_nli_filtering", base.enable_nli_filtering),
        nli_entailment_threshold=fields.number("nli_entailment_threshold", base.nli_entailment_threshold, 0, 1),
        use_cpu=fields.flag("use_cpu", base.use_cpu),
    )
    if settings.backend != ENDPOINT:
        place = fields.get("endpoint")
        if place is not None and not _blank(place):
            place.warn(f"is not used: the backend is {settings.backend}", "set `backend: endpoint` to use it")
        if settings.backend == LEXICAL and "model_id" in fields:
            fields.place("model_id").warn("is not used: the lexical backend counts words", "remove it")
        return replace(settings, endpoint=None)
    endpoint = _endpoint(fields, settings)
    return settings if endpoint is None else replace(settings, endpoint=endpoint, model=endpoint.model)


def _fact_check(block: Cursor | None, system: System, base: FactCheckSettings) -> FactCheckSettings:
    if block is None:
        return base
    fields = block.fields(_COMMON, owned=True)
    _unused(fields)
    return FactCheckSettings(
        model=_model(fields, system, base.model),
        threshold=fields.number("threshold", base.threshold, 0, 1),
        use_cpu=fields.flag("use_cpu", base.use_cpu),
    )


def _explainer(block: Cursor | None, system: System, base: ExplainerSettings) -> ExplainerSettings:
    if block is None:
        return base
    fields = block.fields(_COMMON, owned=True)
    _unused(fields)
    return ExplainerSettings(
        model=_model(fields, system, base.model),
        threshold=fields.number("threshold", base.threshold, 0, 1),
        use_cpu=fields.flag("use_cpu", base.use_cpu),
    )


def _model(fields: Fields, system: System, default: str) -> str:
    """``model_id`` wins over ``model_ref``, and either over the default. The router writes `""` for none."""
    given = {key: place for key in ("model_id", "model_ref") if (place := fields.get(key)) and not _blank(place)}
    if "model_id" in given:
        return fields.text("model_id", default)
    reference = fields.text("model_ref", None) if "model_ref" in given else None
    if reference is None:
        return default
    return system.resolve(reference, fields.place("model_ref")) or default


def _endpoint(fields: Fields, settings: DetectorSettings) -> EndpointSettings | None:
    place = fields.get("endpoint")
    if place is None or _blank(place):
        if settings.endpoint is not None:
            return settings.endpoint
        fields.place("endpoint").error(
            "is missing, and the backend is `endpoint`",
            "give the server's base URL, such as http://host:8000/v1",
        )
        return None
    served = settings.model if settings.model != EMBEDDED else None
    if not place.is_mapping:
        url, model = _url(place), served
        inner = Fields(place, {})
    else:
        inner = place.fields(_ENDPOINT, owned=True)
        url = _url(inner.place("base_url")) if "base_url" in inner else None
        if "base_url" not in inner:
            inner.place("base_url").error("is missing", "give the server's base URL, such as http://host:8000/v1")
        model = inner.text("model", served)
    if model is None:
        place.error(
            "names no model, and the backend is `endpoint`",
            "give model_id: the name the server serves it under",
        )
    timeout = _timeout(inner)
    made = EndpointSettings(
        base_url=url or "",
        model=model or "",
        api_key=_api_key(inner),
        timeout=timeout,
        max_response_bytes=inner.size("max_response_bytes", 1 << 20, 1 << 10, 64 << 20),
        prompt=inner.choice("prompt", "builtin", PROMPTS),
        max_tokens=inner.integer("max_tokens", 1024, 16, 131_072),
    )
    return made if url and model else None


def _timeout(fields: Fields) -> float:
    if "timeout" in fields and "timeout_seconds" in fields:
        fields.place("timeout_seconds").error("`timeout` is given too", "keep one of the two")
    seconds = fields.number("timeout_seconds", 10.0, 0.05, 600)
    return fields.duration("timeout", seconds, 0.05, 600)


def _api_key(fields: Fields) -> str | None:
    name = fields.text("api_key_env", None)
    if "api_key" in fields:
        if name is not None:
            fields.place("api_key_env").error("`api_key` is given too", "keep one of the two")
        return fields.secret("api_key")
    if name is None:
        return None
    place = fields.place("api_key_env")
    key = place.book.environment.get(name)
    if not key:
        place.error(f"the environment variable {name[:60]} is not set", "set it to the server's API key")
    return key


def _url(at: Cursor) -> str | None:
    """An absolute http(s) URL without user and password; never echoed, since it may hold some."""
    text = at.text()
    if text is None:
        return None
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good, parts = False, urlsplit("")
    if not good or any(character.isspace() for character in text):
        at.error("is not an absolute http(s) URL", "write it as http://host:8000/v1")
        return None
    if parts.username is not None or parts.password is not None:
        at.error("holds a user or password", "move it to api_key or api_key_env")
        return None
    if parts.query or parts.fragment:
        at.error("holds a query or fragment", "give the base URL only, such as http://host:8000/v1")
        return None
    return text.rstrip("/")


def _blank(at: Cursor) -> bool:
    return not at.is_mapping and not at.is_list and not getattr(at.node, "text", "").strip()


def _unused(fields: Fields) -> None:
    for key, why in _UNUSED.items():
        place = fields.get(key)
        if place is None:
            continue
        read = None if place.is_mapping else place.scalar("a value")
        if place.is_mapping or (read is not None and read.value):
            place.warn("is not used by this filter", f"remove it if you like: {why}")
