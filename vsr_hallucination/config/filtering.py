"""The ``filter`` block: everything that is this filter's alone. Unknown keys in it are errors."""

from __future__ import annotations

from collections.abc import Mapping

from vsr_hallucination.config.addresses import (
    check_ports,
    is_loopback,
    read_address,
    read_addresses,
    read_upstream,
)
from vsr_hallucination.config.cursor import Cursor, Fields
from vsr_hallucination.config.evidence import read_apis, read_grounding
from vsr_hallucination.config.problems import words
from vsr_hallucination.config.schema import (
    Action,
    AdminSettings,
    DecisionSource,
    DetectionSettings,
    EnvoySettings,
    FactCheckMode,
    FailureMode,
    FilterSettings,
    Limits,
    ServerSettings,
    TlsSettings,
)

_FILTER = words(
    """
    failure_mode evaluation_failed_action fact_check decision_source allow_debug limits detection
    grounding apis server admin envoy replay log_level
    """
)
_DETECTION = frozenset(
    "value_check relation_check deadline queue threads torch_threads batch_tokens max_windows".split()
)
_SERVER = frozenset({"listen", "tls", "drain_wait", "drain_timeout"})
_ENVOY = words(
    """
    listen upstream upstream_tls admin message_timeout max_message_timeout paths
    filter_addresses filter_ca client_certificate client_key
    """
)

_FAILURE_MODES: Mapping[str, FailureMode] = {mode.value: mode for mode in FailureMode}
# A text that could not be checked is not rewritten: there is nothing to say in it that the header does not.
_FAILED_ACTIONS: Mapping[str, Action] = {action.value: action for action in (Action.HEADER, Action.NONE, Action.BLOCK)}
_FACT_CHECK: Mapping[str, FactCheckMode] = {mode.value: mode for mode in FactCheckMode}
_SOURCES: Mapping[str, DecisionSource] = {source.value: source for source in DecisionSource}
_LEVELS: Mapping[str, str] = {level: level for level in ("debug", "info", "warning", "error")}

_MAX_CHECK = 256 << 20  # four times that is Envoy's and gRPC's limit, which must fit 31 bits


def read_filter(block: Cursor | None) -> tuple[FilterSettings, Cursor | None]:
    """The settings, and the place of ``filter.replay``, which is read with the router's replay settings."""
    if block is None:
        return FilterSettings(), None
    fields = block.fields(_FILTER, owned=True)
    base = FilterSettings()
    settings = FilterSettings(
        failure_mode=fields.choice("failure_mode", base.failure_mode, _FAILURE_MODES),
        evaluation_failed_action=_failed_action(fields, base.evaluation_failed_action),
        fact_check=fields.choice("fact_check", base.fact_check, _FACT_CHECK),
        decision_source=fields.choice("decision_source", base.decision_source, _SOURCES),
        allow_debug=fields.flag("allow_debug", base.allow_debug),
        limits=_limits(fields),
        detection=_detection(fields),
        grounding=read_grounding(fields),
        apis=read_apis(fields),
        server=_server(fields),
        admin=_admin(fields),
        envoy=_envoy(fields),
        log_level=fields.choice("log_level", base.log_level, _LEVELS),
    )
    _check_times(fields, settings)
    _check_admin(fields, settings.admin)
    check_ports(fields, settings)
    return settings, fields.get("replay")


def _failed_action(fields: Fields, default: Action) -> Action:
    place = fields.get("evaluation_failed_action")
    if place is not None and getattr(place.node, "text", "") == Action.BODY.value:
        place.error("`body` does not exist for an answer that could not be checked", "write header, none or block")
        return default
    return fields.choice("evaluation_failed_action", default, _FAILED_ACTIONS)


def _limits(fields: Fields) -> Limits:
    inner = fields.sub("limits", {"check"}, owned=True)
    return Limits(check=inner.size("check", Limits().check, 1 << 10, _MAX_CHECK))


def _detection(fields: Fields) -> DetectionSettings:
    inner, base = fields.sub("detection", _DETECTION, owned=True), DetectionSettings()
    return DetectionSettings(
        value_check=inner.flag("value_check", base.value_check),
        relation_check=inner.flag("relation_check", base.relation_check),
        deadline=inner.duration("deadline", base.deadline, 0.05, 300),
        queue=inner.integer("queue", base.queue, 1, 100_000),
        threads=inner.integer("threads", base.threads, 1, 64),
        torch_threads=inner.integer("torch_threads", base.torch_threads, 0, 512),
        batch_tokens=inner.integer("batch_tokens", base.batch_tokens, 128, 1_048_576),
        max_windows=inner.integer("max_windows", base.max_windows, 1, 100_000),
    )


def _server(fields: Fields) -> ServerSettings:
    inner, base = fields.sub("server", _SERVER, owned=True), ServerSettings()
    listen = read_addresses(inner, "listen", base.listen)
    return ServerSettings(
        listen=listen,
        tls=_tls(inner),
        drain_wait=inner.duration("drain_wait", base.drain_wait, 0, 600),
        drain_timeout=inner.duration("drain_timeout", base.drain_timeout, 0, 3600),
    )


def _tls(fields: Fields) -> TlsSettings | None:
    if "tls" not in fields:
        return None
    inner = fields.sub("tls", {"certificate", "key", "client_ca"}, owned=True)
    certificate, key = inner.text("certificate", None), inner.text("key", None)
    for name in ("certificate", "key"):
        if name not in inner:
            inner.place(name).error("is missing", "TLS needs `certificate` and `key`: paths of PEM files")
    if certificate is None or key is None:
        return None
    return TlsSettings(certificate, key, inner.text("client_ca", None))


def _admin(fields: Fields) -> AdminSettings:
    inner, base = fields.sub("admin", {"listen", "token", "enabled"}, owned=True), AdminSettings()
    return AdminSettings(
        listen=read_address(inner, "listen", base.listen),
        token=inner.secret("token"),
        enabled=inner.flag("enabled", base.enabled),
    )


def _envoy(fields: Fields) -> EnvoySettings:
    inner, base = fields.sub("envoy", _ENVOY, owned=True), EnvoySettings()
    paths = inner.texts("paths", base.paths)
    if "paths" in inner:
        for path, place in inner.placed_texts("paths"):
            if not path.startswith("/") or any(c.isspace() or c in "?#" for c in path):
                place.error(f"`{path[:60]}` is no path", "write it as /v1/chat/completions")
        if not paths:
            inner.place("paths").error("is empty", "list the paths that carry LLM requests")
    certificate, key = inner.text("client_certificate", None), inner.text("client_key", None)
    for name, other in (("client_certificate", "client_key"), ("client_key", "client_certificate")):
        if name in inner and other not in inner:
            inner.place(name).error(f"stands without `{other}`", "give both: paths of PEM files on Envoy's machine")
    upstream, upstream_tls = read_upstream(inner, base.upstream)
    return EnvoySettings(
        listen=read_address(inner, "listen", base.listen),
        upstream=upstream,
        upstream_tls=upstream_tls,
        filter_addresses=read_addresses(inner, "filter_addresses", base.filter_addresses),
        filter_ca=inner.text("filter_ca", base.filter_ca),
        client_certificate=certificate,
        client_key=key,
        admin=read_address(inner, "admin", base.admin),
        message_timeout=inner.duration("message_timeout", base.message_timeout, 0.01, 3600),
        max_message_timeout=inner.duration("max_message_timeout", base.max_message_timeout, 0.01, 3600),
        paths=paths,
    )


def _check_times(fields: Fields, settings: FilterSettings) -> None:
    """Envoy must wait longer for a message than a check may take, or it gives up on running checks."""
    deadline, envoy = settings.detection.deadline, settings.envoy
    inner = fields.sub("envoy", None)
    if envoy.message_timeout <= deadline:
        at = inner.place("message_timeout") if "message_timeout" in inner else _deadline_place(fields)
        at.error(
            f"envoy.message_timeout ({envoy.message_timeout:g}s) is not longer than detection.deadline "
            f"({deadline:g}s): Envoy would give up while a check is running",
            f"raise filter.envoy.message_timeout above {deadline:g}s, or lower filter.detection.deadline",
        )
    if envoy.max_message_timeout < envoy.message_timeout:
        key = "max_message_timeout" if "max_message_timeout" in inner else "message_timeout"
        inner.place(key).error(
            f"envoy.max_message_timeout ({envoy.max_message_timeout:g}s) is shorter than "
            f"envoy.message_timeout ({envoy.message_timeout:g}s)",
            f"raise filter.envoy.max_message_timeout to at least {envoy.message_timeout:g}s",
        )


def _deadline_place(fields: Fields) -> Cursor:
    inner = fields.sub("detection", None)
    return inner.place("deadline") if "deadline" in inner else fields.at


def _check_admin(fields: Fields, admin: AdminSettings) -> None:
    if admin.enabled and admin.token is None and not is_loopback(admin.listen):
        inner = fields.sub("admin", None)
        inner.place("listen" if "listen" in inner else "token").error(
            f"`{admin.listen[:80]}` is reachable from other machines, and no token is set: "
            "replay records would be open to them",
            "set filter.admin.token (for example ${VSR_ADMIN_TOKEN}), or listen on 127.0.0.1",
        )
