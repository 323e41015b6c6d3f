"""The table's rows for ``filter``: everything that is this filter's alone."""

from __future__ import annotations

from typing import Final

from vsr_hallucination.apis.served import API_NAMES
from vsr_hallucination.config.evidence_schema import GroundingSettings
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
    size,
    text,
    texts,
)
from vsr_hallucination.config.schema import (
    AdminSettings,
    DetectionSettings,
    EnvoySettings,
    FilterSettings,
    Limits,
    ReplaySettings,
    ServerSettings,
    TlsSettings,
)

_ADDRESS = "host:port"
FILTER_BLOCKS: Final = (
    Block(
        "filter",
        "What is this filter's alone. The router ignores it.",
        (
            choice("failure_mode", "What Envoy does when the filter is gone.", ("open", "closed")),
            choice(
                "evaluation_failed_action",
                "What happens to an answer that could not be checked, where the decision's plugin is enabled.",
                ("header", "none", "block"),
            ),
            choice(
                "fact_check",
                "Ask the classifier whether a prompt needs grounding, or treat every prompt as if it did.",
                ("classifier", "always"),
            ),
            choice(
                "decision_source",
                "Who selects the decision: the rules here, the Envoy route, or a router further upstream.",
                ("rules", "route", "upstream"),
            ),
            flag("allow_debug", "Whether `x-vsr-debug: true` from a client is honoured."),
            block("limits", "How large a body may be.", "limits"),
            block("detection", "How checks run.", "detection"),
            block("grounding", "What is evidence beyond tool results and documents.", "grounding"),
            Key(
                "apis",
                Kind.MAP,
                "End of a path → the API it speaks; looked at before the built-in paths.",
                words=API_NAMES,
            ),
            block("server", "The gRPC server.", "server"),
            block("admin", "Health, metrics and replay over HTTP.", "admin"),
            block("envoy", "What `envoy-config` puts into the Envoy configuration.", "envoy"),
            block("replay", "Where records go; wins over the router's own settings key by key.", "replay"),
            choice("log_level", "The least severe lines that are logged.", ("debug", "info", "warning", "error")),
        ),
        owned=True,
        made=FilterSettings,
    ),
    Block(
        "limits",
        "Sizes.",
        (size("check", "The largest body that is checked; Envoy's limit is four times it.", 1 << 10, 256 << 20),),
        owned=True,
        made=Limits,
    ),
    Block(
        "detection",
        "How checks run.",
        (
            flag("value_check", "Compare numbers, dates and identifiers with the evidence by rule, beside the model."),
            flag(
                "relation_check",
                "Look by rule for what a sentence turns of the evidence: a negation or an opposite, how certain or how "
                "binding it is, a comparison or order, who did what, whose statement it is, a condition; another "
                "statement, name or value in the place of a line's own; a field that is true or false; and names that "
                "neither evidence nor question has. English only.",
            ),
            duration("deadline", "The longest a check may take, queueing and explanation included.", 0.05, 300),
            integer("queue", "Checks that may wait; more are answered `overloaded`.", 1, 100_000),
            integer("threads", "Model calls at once, per model.", 1, 64),
            integer("torch_threads", "CPU threads of one model call; 0: all cores.", 0, 512),
            integer("batch_tokens", "Padded tokens of one model call.", 128, 1_048_576, unit="tokens"),
            integer("max_windows", "Windows of evidence and answer of one check.", 1, 100_000, unit="windows"),
        ),
        owned=True,
        made=DetectionSettings,
    ),
    Block(
        "grounding",
        "What is evidence beyond tool results and documents; whoever can set it is trusted.",
        (
            integer("max_passages", "Passages of one request that are read.", 1, 1_000_000, unit="passages"),
            texts("tags", "Sections of messages between these tags are evidence: `context` for <context>…</context>."),
            texts("tag_sources", "Messages the tags are looked for in: system, user.", words=("system", "user")),
            texts("message_names", "Messages whose `name` is one of these are evidence."),
            texts("fields", "Paths of request fields that hold evidence, such as `$.metadata.context`.", default=()),
            text("header", "A request header that holds evidence."),
            text("metadata", "A key of the ext_proc call's gRPC metadata that holds evidence."),
        ),
        owned=True,
        made=GroundingSettings,
    ),
    Block(
        "server",
        "The gRPC server. Changes take a restart.",
        (
            texts("listen", "Addresses: host:port or unix:/path."),
            block("tls", "PEM files; without it the connection is not encrypted.", "tls"),
            duration("drain_wait", "NOT_SERVING this long before connections are turned away.", 0, 600),
            duration("drain_timeout", "Then exchanges in flight may take this long to finish.", 0, 3600),
        ),
        owned=True,
        made=ServerSettings,
    ),
    Block(
        "tls",
        "PEM files.",
        (
            text("certificate", "Path of the certificate chain.", required=True),
            text("key", "Path of its key.", required=True),
            text("client_ca", "Clients must present a certificate signed by this authority."),
        ),
        owned=True,
        made=TlsSettings,
    ),
    Block(
        "admin",
        "Health, metrics and replay over HTTP. Changes take a restart.",
        (
            text("listen", "Address; any but loopback needs a token.", unit=_ADDRESS),
            text("token", "Asked for as `Authorization: Bearer`; `${VSR_ADMIN_TOKEN}` keeps it out of the file."),
            flag("enabled", "Whether it runs."),
        ),
        owned=True,
        made=AdminSettings,
    ),
    Block(
        "envoy",
        "What `envoy-config` puts into the Envoy configuration.",
        (
            text("listen", "Where clients reach Envoy.", unit=_ADDRESS),
            text("upstream", "The model server.", unit=_ADDRESS),
            flag("upstream_tls", "Speak TLS to it, verified against the system's authorities."),
            texts("filter_addresses", "Where Envoy finds the filter, if not under `server.listen`."),
            text("filter_ca", "What Envoy trusts the filter's certificate by; default: the certificate itself."),
            text("client_certificate", "What Envoy shows a filter that asks for a certificate."),
            text("client_key", "Its key."),
            text("admin", "Envoy's admin address.", unit=_ADDRESS),
            duration("message_timeout", "Envoy's patience with one message; longer than the deadline.", 0.01, 3600),
            duration("max_message_timeout", "The most that patience may be extended to.", 0.01, 3600),
            texts("paths", "Paths that carry LLM requests; also with a `/` at the end and with path parameters."),
        ),
        owned=True,
        made=EnvoySettings,
    ),
    Block(
        "replay",
        "Where records go.",
        (
            RECORDED,
            text("url", "`memory`, sqlite:////path/file.db, postgresql://user@host:5432/database.", default="memory"),
            MAX_RECORDS,
            duration("max_age", "Older ones are removed; `unlimited` keeps them.", 1.0, 10 * 365 * 86400.0),
            flag("store_bodies", "Keep prompts and answers too."),
            integer("queue", "Records that may wait for the store; more are lost and counted.", 1, 1_000_000),
        ),
        owned=True,
        made=ReplaySettings,
    ),
)
