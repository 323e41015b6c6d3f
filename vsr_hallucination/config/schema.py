"""The configuration after loading: immutable, checked, defaults filled in. Everything downstream trusts it.

``loading`` makes these from a file in Semantic Router's canonical shape (DESIGN §4). Durations are seconds,
sizes bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from vsr_hallucination.apis.served import API_PATHS
from vsr_hallucination.config.evidence_schema import GroundingSettings as GroundingSettings
from vsr_hallucination.config.projection_schema import Projections


class Action(StrEnum):
    """What a plugin does to an answer; ``block`` is our extension (DESIGN §3)."""

    HEADER = "header"
    BODY = "body"
    NONE = "none"
    BLOCK = "block"


class Operator(StrEnum):
    AND = "AND"
    OR = "OR"
    NOT = "NOT"


class Strategy(StrEnum):
    PRIORITY = "priority"
    CONFIDENCE = "confidence"


class DecisionSource(StrEnum):
    RULES = "rules"
    ROUTE = "route"
    UPSTREAM = "upstream"


class FactCheckMode(StrEnum):
    CLASSIFIER = "classifier"
    ALWAYS = "always"


class FailureMode(StrEnum):
    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class HallucinationRule:
    """One entry of ``routing.signals.hallucination``."""

    name: str
    use_nli: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class KeywordRule:
    """One entry of ``routing.signals.keywords``; operator OR / AND / NOR over ``keywords``.

    ``whole_words`` False: found anywhere, as the router's method ``regex`` does with plain text.
    """

    name: str
    keywords: tuple[str, ...]
    operator: str = "OR"
    case_sensitive: bool = False
    whole_words: bool = True


@dataclass(frozen=True, slots=True)
class Leaf:
    """A condition that reads one signal, for example ``fact_check:needs_fact_check``."""

    type: str
    name: str


@dataclass(frozen=True, slots=True)
class Node:
    """AND / OR / NOT over conditions."""

    operator: Operator
    conditions: tuple[Node | Leaf, ...]


@dataclass(frozen=True, slots=True)
class HallucinationPlugin:
    """Configuration of a decision's ``hallucination`` plugin."""

    enabled: bool = False
    hallucination_action: Action = Action.HEADER
    unverified_factual_action: Action = Action.HEADER
    include_hallucination_details: bool = False
    use_nli: bool = False  # compatibility path only: ignored where a rule is declared


@dataclass(frozen=True, slots=True)
class Decision:
    """A routing decision. ``rules`` None always matches at confidence 0. ``selectable`` False: reads a family
    this filter does not evaluate, reported at load and never selected by our own routing."""

    name: str
    priority: int = 0
    tier: int = 0
    rules: Node | Leaf | None = None
    plugin: HallucinationPlugin | None = None
    selectable: bool = True


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """A generative span detector behind an OpenAI-compatible server. ``api_key`` is in no repr and no log."""

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 10.0
    max_response_bytes: int = 1 << 20
    prompt: str = "builtin"  # "builtin" or "lettucedetect" (frozen prompt of the optional package)
    max_tokens: int = 1024


@dataclass(frozen=True, slots=True)
class DetectorSettings:
    """``hallucination_mitigation.hallucination_model``.

    ``None``: from the model directory, else DESIGN §4's number. ``model`` is a local directory, a hub id, or
    ``embedded``.
    """

    backend: str = "token_classification"  # or "endpoint", or "lexical" (a word counter: the baseline)
    model: str = "embedded"
    threshold: float | None = None
    min_span_length: int = 2
    min_span_confidence: float | None = None
    enable_nli_filtering: bool = True
    nli_entailment_threshold: float = 0.75
    use_cpu: bool = True
    endpoint: EndpointSettings | None = None


@dataclass(frozen=True, slots=True)
class FactCheckSettings:
    """``hallucination_mitigation.fact_check_model``."""

    model: str = "embedded"
    threshold: float | None = None
    use_cpu: bool = True


@dataclass(frozen=True, slots=True)
class ExplainerSettings:
    """``hallucination_mitigation.nli_model``."""

    model: str = "embedded"
    threshold: float = 0.9
    use_cpu: bool = True


@dataclass(frozen=True, slots=True)
class Recipe:
    """A routing profile: rules, decisions and models that hold for the requests resolved to it."""

    name: str = "default"
    hallucination: tuple[HallucinationRule, ...] = ()
    keywords: tuple[KeywordRule, ...] = ()
    projections: Projections = field(default_factory=Projections)
    decisions: tuple[Decision, ...] = ()
    strategy: Strategy = Strategy.PRIORITY
    detector: DetectorSettings = DetectorSettings()
    fact_check: FactCheckSettings = FactCheckSettings()
    explainer: ExplainerSettings = ExplainerSettings()

    @property
    def needs_models(self) -> bool:
        """True where bodies must be read: for a declared rule, or an enabled plugin (compatibility path)."""
        if self.hallucination:
            return True
        return bool(self.decisions) and any(d.plugin is not None and d.plugin.enabled for d in self.decisions)

    @property
    def needs_explainer(self) -> bool:
        if self.hallucination:
            return any(rule.use_nli for rule in self.hallucination)
        return any(d.plugin is not None and d.plugin.enabled and d.plugin.use_nli for d in self.decisions)


@dataclass(frozen=True, slots=True)
class Entrypoint:
    """Requests whose ``model`` is one of ``models`` resolve to ``recipe``."""

    models: tuple[str, ...]
    recipe: str


@dataclass(frozen=True, slots=True)
class Limits:
    """``check``: the largest body that is checked. Envoy's and gRPC's limits: ``edge`` = four times that."""

    check: int = 16 << 20

    @property
    def edge(self) -> int:
        return 4 * self.check


@dataclass(frozen=True, slots=True)
class DetectionSettings:
    """``filter.detection``: how checks run. ``deadline`` covers queueing, detection and explanation."""

    value_check: bool = True
    relation_check: bool = True
    deadline: float = 8.0
    queue: int = 256
    threads: int = 1
    torch_threads: int = 0  # 0: all cores
    batch_tokens: int = 2048
    # Windows of evidence that one check reads where it must choose; each piece of a long answer gets one at least.
    # What two small cores read within the deadline, with a margin.
    max_windows: int = 64


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """PEM files. ``client_ca`` set: clients must present a certificate it signed (mTLS)."""

    certificate: str
    key: str
    client_ca: str | None = None


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """``filter.server``. ``listen`` entries are ``host:port`` or ``unix:/path``."""

    listen: tuple[str, ...] = ("127.0.0.1:50051",)
    tls: TlsSettings | None = None
    drain_wait: float = 3.0  # NOT_SERVING until Envoy has noticed
    drain_timeout: float = 30.0  # then exchanges in flight may finish


@dataclass(frozen=True, slots=True)
class AdminSettings:
    """``filter.admin``. Any address but loopback needs ``token`` (sent as ``Authorization: Bearer``)."""

    listen: str = "127.0.0.1:9090"
    token: str | None = field(default=None, repr=False)
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class EnvoySettings:
    """``filter.envoy``: what ``envoy-config`` needs beyond the rest. ``upstream`` is host:port of the LLM.

    ``filter_addresses``: where Envoy finds the filter if not under ``server.listen`` (another container or host).
    ``filter_ca`` is what Envoy trusts the filter's certificate by (None: the certificate itself), and
    ``client_certificate`` / ``client_key`` what it shows a filter that asks for one (paths on Envoy's machine).
    """

    listen: str = "127.0.0.1:8801"
    upstream: str = "127.0.0.1:8000"
    upstream_tls: bool = False  # verified against the system's authorities
    filter_addresses: tuple[str, ...] = ()
    filter_ca: str | None = None
    client_certificate: str | None = None
    client_key: str | None = None
    admin: str = "127.0.0.1:9901"
    message_timeout: float = 10.0
    max_message_timeout: float = 60.0
    paths: tuple[str, ...] = API_PATHS


@dataclass(frozen=True, slots=True)
class ReplaySettings:
    """Where records go: ``url`` None is the memory ring. Retention by count and age; bodies only if asked."""

    enabled: bool = True
    url: str | None = field(default=None, repr=False)  # SQLAlchemy URL; may carry a password
    max_records: int = 10_000
    max_age: float | None = 30 * 86400.0
    store_bodies: bool = False
    queue: int = 10_000


@dataclass(frozen=True, slots=True)
class FilterSettings:
    """The ``filter`` block: everything that is ours alone."""

    failure_mode: FailureMode = FailureMode.OPEN
    evaluation_failed_action: Action = Action.HEADER  # header, none or block
    fact_check: FactCheckMode = FactCheckMode.CLASSIFIER
    decision_source: DecisionSource = DecisionSource.RULES
    allow_debug: bool = True
    limits: Limits = Limits()
    detection: DetectionSettings = DetectionSettings()
    grounding: GroundingSettings = field(default_factory=GroundingSettings)
    apis: tuple[tuple[str, str], ...] = ()  # (end of a path, API), looked at before the built-in ones
    server: ServerSettings = ServerSettings()
    admin: AdminSettings = AdminSettings()
    envoy: EnvoySettings = EnvoySettings()
    log_level: str = "info"


@dataclass(frozen=True, slots=True)
class Config:
    """One loaded configuration. ``sha256`` identifies the file's content in logs and metrics."""

    recipes: tuple[Recipe, ...] = (Recipe(),)  # the first is ``default``
    entrypoints: tuple[Entrypoint, ...] = ()
    filter: FilterSettings = FilterSettings()
    replay: ReplaySettings = ReplaySettings()
    source: str = "<defaults>"
    sha256: str = ""

    def recipe(self, name: str) -> Recipe | None:
        return next((r for r in self.recipes if r.name == name), None)

    def recipe_for_model(self, model: str | None) -> Recipe:
        """The recipe an entrypoint maps ``model`` to, else ``default``."""
        for entry in self.entrypoints:
            if model is not None and model in entry.models:
                found = self.recipe(entry.recipe)
                if found is not None:
                    return found
        return self.recipes[0]
