"""The table's rows for ``global``: the models that judge, and the router's replay settings."""

from __future__ import annotations

from typing import Final

from vsr_hallucination.config import loading, models, replay
from vsr_hallucination.config.reference import (
    MAX_RECORDS,
    RECORDED,
    Block,
    Key,
    Kind,
    block,
    choice,
    duration,
    flag,
    integer,
    number,
    probability,
    router,
    size,
    strategy,
    text,
)
from vsr_hallucination.config.schema import (
    DetectorSettings,
    EndpointSettings,
    ExplainerSettings,
    FactCheckSettings,
    ReplaySettings,
)

_models = tuple(
    block(name, line + f" `{other}` is the same block.", below)
    for names, line, below in (
        (("hallucination_model", "detector"), "The detector.", "detector"),
        (("fact_check_model", "fact_check"), "The classifier of prompts.", "fact_check_model"),
        (("nli_model", "explainer"), "The explainer.", "explainer"),
    )
    for name, other in (names, names[::-1])
)
_unused = (
    Key("max_sequence_length", Kind.ANY, "Not used: all is read whole, in windows."),
    flag("use_mmbert_32k", "Not used."),
    flag("use_modernbert", "Not used."),
    Key("window", Kind.ANY, "Not used: all is read whole, in windows of this filter's own."),
    Key("variant", Kind.ANY, "Not used: the model directory says what the model is."),
)
_model = (
    text("model_ref", "A name bound under `global.model_catalog.system`; `model_id` wins."),
    text("model_id", "A local directory, a hub id, or `embedded`.", field="model"),
    flag("use_cpu", "Keep to the CPU; false: a GPU where there is one."),
)


MODEL_BLOCKS: Final = (
    router(
        "global",
        "What all recipes share.",
        loading._GLOBAL,
        (
            block("router", "Of its keys only `strategy` is read.", "global_router"),
            block("services", "Of its keys only `router_replay` is read.", "services"),
            block("stores", "The same, where `services` has none.", "services"),
            block("model_catalog", "Which models judge.", "catalog"),
        ),
    ),
    Block(
        "global_router",
        "The router's own settings.",
        (strategy("Strategy of recipes that name none."),),
        open=True,
    ),
    Block("services", "The router's services.", (block("router_replay", "Its replay.", "router_replay"),), open=True),
    router(
        "router_replay",
        "The router's replay settings, taken over where they have a counterpart here.",
        replay._UPSTREAM,
        (
            RECORDED,
            text("store_backend", "memory or postgres; others are not written here.", default="memory"),
            number("ttl_seconds", "Older records are removed; 0 keeps them.", 0, 10 * 365 * 86400.0, unit="seconds"),
            MAX_RECORDS,
            block("postgres", "For store_backend postgres.", "postgres"),
        ),
        ReplaySettings,
    ),
    router(
        "postgres",
        "The server and the database.",
        replay._POSTGRES,
        (
            text("host", "The server.", default="127.0.0.1"),
            integer("port", "Its port.", 1, 65535, default=5432),
            text("database", "The database; needed for store_backend postgres."),
            text("user", "The user."),
            text("password", "The password; `${NAME}` keeps it out of the file."),
            text("ssl_mode", "sslmode of libpq."),
        ),
    ),
    router(
        "catalog",
        "Models.",
        loading._CATALOG,
        (
            Key("system", Kind.MAP, "Names for models, for `model_ref`."),
            block("modules", "Which models do what.", "modules"),
        ),
    ),
    router(
        "modules",
        "Of the router's modules only this is read.",
        loading._MODULES,
        (block("hallucination_mitigation", "The three models.", "mitigation"),),
    ),
    Block(
        "mitigation",
        "The three models. Each block has two spellings; giving both is an error.",
        (
            flag("enabled", "False does not switch rules off: remove them.", default=True),
            *_models,
            Key("on_hallucination_detected", Kind.ANY, "Not used: a decision's plugin says what happens."),
        ),
        owned=True,
    ),
    Block(
        "detector",
        "Finds unsupported spans.",
        (
            choice("backend", "What judges; `candle` is the router's word for the first.", tuple(models.BACKENDS)),
            *_model,
            probability("threshold", "A span's least unsupported score; from the model, else this.", default=0.8),
            integer("min_span_length", "Words of a span at least (a CJK character is one).", 0, 1000, unit="words"),
            probability("min_span_confidence", "A span's least confidence; from the model, else this.", default=0.6),
            flag("enable_nli_filtering", "Drop spans the evidence entails, where a rule has use_nli."),
            probability("nli_entailment_threshold", "Entailment that drops a span."),
            Key("endpoint", Kind.TEXT_OR_BLOCK, "For backend endpoint: the base URL, or more.", block="endpoint"),
            Key("include_explanation", Kind.ANY, "Not used: a rule's use_nli asks for explanations."),
            Key("context_window_size", Kind.ANY, "Not used: evidence is read whole, in windows."),
            *_unused,
        ),
        owned=True,
        made=DetectorSettings,
    ),
    Block(
        "endpoint",
        "A generative span detector behind an OpenAI-compatible server.",
        (
            text("base_url", "Such as http://host:8000/v1.", required=True),
            text("model", "The name it is served under; default: model_id.", default=None),
            text("api_key", "Its key; `${NAME}` keeps it out of the file."),
            text("api_key_env", "The environment variable that holds it."),
            duration("timeout", "Of one call.", 0.05, 600),
            number("timeout_seconds", "The same, as a number.", 0.05, 600, unit="seconds", field="timeout"),
            size("max_response_bytes", "More than this is not read.", 1 << 10, 64 << 20),
            choice("prompt", "Ours, or that of LettuceDetect's own models.", tuple(models.PROMPTS)),
            integer("max_tokens", "Of one reply.", 16, 131_072, unit="tokens"),
        ),
        owned=True,
        made=EndpointSettings,
    ),
    Block(
        "fact_check_model",
        "Says whether a prompt makes claims worth grounding.",
        (
            *_model,
            probability("threshold", "Least score that needs grounding; from the model, else this.", default=0.6),
            *_unused,
        ),
        owned=True,
        made=FactCheckSettings,
    ),
    Block(
        "explainer",
        "Labels spans: contradicted, neutral, entailed.",
        (*_model, probability("threshold", "Least score of a label."), *_unused),
        owned=True,
        made=ExplainerSettings,
    ),
)
