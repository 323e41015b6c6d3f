"""The request as the exchange takes it in: immutable values made from headers and body. Pure; never raises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from vsr_hallucination.apis.base import Api, Asked, EvidenceOptions, RequestUnreadable, RequestView, Supplied
from vsr_hallucination.apis.registry import api_for_path
from vsr_hallucination.config.evidence_schema import GroundingSettings
from vsr_hallucination.config.schema import Config, DecisionSource, Recipe
from vsr_hallucination.detection.types import Grounding, Reason
from vsr_hallucination.enforcement import DEBUG_HEADER
from vsr_hallucination.orders import Note
from vsr_hallucination.reading import content_length
from vsr_hallucination.wire.messages import RequestHeaders


@dataclass(frozen=True, slots=True)
class Intake:
    """What is known of a request. ``refused`` is row 3's reason until a body has been read; ``wanted``: it will be.

    ``remove`` names the request headers that do not go upstream.
    """

    recipe: Recipe
    api: Api | None = None
    method: str = "GET"
    path: str = ""
    request_id: str | None = None
    debug: bool = False
    wanted: bool = False
    refused: Reason | None = Reason.REQUEST_UNREADABLE
    request: RequestView | None = None
    remove: tuple[str, ...] = ()
    supplied: tuple[Supplied, ...] = ()  # evidence that came beside the body
    notes: tuple[Note, ...] = ()

    @property
    def grounding(self) -> Grounding:
        return self.request.grounding if self.request is not None else Grounding()

    def asked_by(self, index: int) -> Asked:
        """What the choice with this ``index`` answers, and the evidence that it has."""
        return self.request.asked_by(index) if self.request is not None else Asked("", Grounding())

    @property
    def readable(self) -> bool:
        """A request was read and some of its recipe's policies want its answer checked."""
        return self.request is not None and self.refused is None and self.recipe.needs_models


def nothing(config: Config) -> Intake:
    """Before the first message: recipe ``default``, nothing known."""
    return Intake(config.recipes[0])


def take_headers(message: RequestHeaders, config: Config, metadata: Mapping[str, str]) -> Intake:
    """From the request headers: which API, whether the body is wanted, what must not go upstream."""
    headers = message.headers
    path = (headers.get(":path") or "").split("?", 1)[0][:512]
    method = (headers.get(":method") or "GET").upper()[:16]
    debug = (
        config.filter.allow_debug and (headers.get(DEBUG_HEADER) or "").strip().lower() == "true"
    )  # the only x-vsr header a client may set
    recipe, notes = _first_recipe(config, metadata)
    wanted = _wants_bodies(config, recipe)
    keep = DEBUG_HEADER if config.filter.allow_debug else ""
    remove = tuple([name for name in headers.under("x-vsr-") if name != keep])
    intake = Intake(
        recipe,
        api_for_path(path, config.filter.apis) if method == "POST" else None,
        method,
        path,
        _bounded(headers.get("x-request-id")),
        debug,
        wanted,
        remove=remove,
        supplied=_supplied(config.filter.grounding, message, metadata) if wanted else (),
        notes=notes,
    )
    return _refuse_early(intake, message, config.filter.limits.check) if wanted else intake


def _refuse_early(intake: Intake, message: RequestHeaders, limit: int) -> Intake:
    """Row 3 from the headers alone."""
    if intake.api is None:
        note = Note("unknown_api", {"path": intake.path, "method": intake.method})
        return replace(intake, wanted=False, refused=Reason.UNKNOWN_API, notes=(*intake.notes, note))
    length = content_length(message.headers)
    if length is not None and length > limit:
        return _too_large(intake, length, limit)
    if message.end_of_stream:
        note = Note("request_unreadable", {"why": "the request has no body"}, warning=True)
        return replace(intake, wanted=False, notes=(*intake.notes, note))
    return intake


def take_body(intake: Intake, body: bytes, config: Config) -> Intake:
    """From the whole request body: the prompt, the grounding, and the recipe its model maps to."""
    limit = config.filter.limits.check
    if len(body) > limit:
        return _too_large(intake, len(body), limit)
    if intake.api is None:
        return intake
    try:
        request = intake.api.read_request(body, _options(config.filter.grounding, intake.supplied))
    except RequestUnreadable as error:
        return replace(intake, notes=(Note("request_unreadable", {"why": str(error)}, warning=True),))
    recipe = intake.recipe
    if config.filter.decision_source is not DecisionSource.ROUTE:
        recipe = config.recipe_for_model(request.model)
    return replace(intake, recipe=recipe, request=request, refused=None, notes=())


def named_recipe(config: Config, name: str | None) -> tuple[Recipe, tuple[Note, ...]]:
    """The recipe a route or an upstream router names; ``default`` for none, and with a note for an unknown one."""
    found = config.recipe(name) if name is not None else config.recipes[0]
    if found is None:
        note = Note("unknown_recipe", {"source": str(config.filter.decision_source)}, warning=True)
        return config.recipes[0], (note,)
    return found, ()


def _first_recipe(config: Config, metadata: Mapping[str, str]) -> tuple[Recipe, tuple[Note, ...]]:
    if config.filter.decision_source is DecisionSource.ROUTE:
        return named_recipe(config, metadata.get("x-vsr-recipe"))
    return config.recipes[0], ()


def _wants_bodies(config: Config, recipe: Recipe) -> bool:
    """No rule in the recipe and no enabled plugin: bodies are not read. Which recipe holds, only a body tells."""
    if config.filter.decision_source is DecisionSource.ROUTE:
        return recipe.needs_models
    return any(each.needs_models for each in config.recipes)


def _supplied(
    settings: GroundingSettings, message: RequestHeaders, metadata: Mapping[str, str]
) -> tuple[Supplied, ...]:
    """Evidence in the request header and the metadata key that the operator trusts; a repeated header is several."""
    found: list[Supplied] = []
    if settings.header is not None:
        texts = message.headers.all(settings.header)
        found += [Supplied(text, f"header:{settings.header}", "header") for text in texts]
    if settings.metadata is not None and settings.metadata in metadata:
        found.append(Supplied(metadata[settings.metadata], f"metadata:{settings.metadata}", "metadata"))
    return tuple(found)


def _options(settings: GroundingSettings, supplied: tuple[Supplied, ...]) -> EvidenceOptions:
    return EvidenceOptions(
        tags=settings.tags,
        tag_sources=settings.tag_sources,
        message_names=settings.message_names,
        fields=settings.fields,
        supplied=supplied,
        max_passages=settings.max_passages,
    )


def _too_large(intake: Intake, size: int, limit: int) -> Intake:
    note = Note("too_large", {"edge": "request", "size": size, "limit": limit}, warning=True)
    return replace(intake, wanted=False, refused=Reason.TOO_LARGE, notes=(note,))


def _bounded(value: str | None, limit: int = 256) -> str | None:
    return value[:limit] if value is not None else None
