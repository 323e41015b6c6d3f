"""File → Config. Semantic Router's canonical shape (v0.3) plus our ``filter`` block; every problem at once.

``global`` is sparse: what it leaves out keeps its default. Parts of the schema this filter does not read are
tolerated. Sources: DESIGN §4; the router's configuration documentation for the shape.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vsr_hallucination.config import layout, yamltext
from vsr_hallucination.config.cursor import Book, Cursor, Fields
from vsr_hallucination.config.filtering import read_filter
from vsr_hallucination.config.models import System, default_models, read_models
from vsr_hallucination.config.problems import ConfigError, Problem, Severity, in_file_order, words
from vsr_hallucination.config.recipes import Surroundings, read_entrypoints, read_recipes
from vsr_hallucination.config.replay import read_replay
from vsr_hallucination.config.schema import Config, Recipe, Strategy

VERSIONS = ("v0.3", "0.3")
# Blocks of older or mistaken layouts: left there, they would silently switch the check off.
_MISPLACED: Mapping[str, str] = {
    "hallucination_mitigation": "global.model_catalog.modules.hallucination_mitigation",
    "model_catalog": "global.model_catalog",
    "modules": "global.model_catalog.modules",
    "signals": "routing.signals",
    "projections": "routing.projections",
    "decisions": "routing.decisions",
    "strategy": "routing.strategy",
}
_TOP = words(
    """
    version listeners providers evaluation routing recipes entrypoints global filter setup
    """
)
_GLOBAL = frozenset({"router", "services", "stores", "integrations", "model_catalog", "billing", "control_plane"})
_CATALOG = words(
    """
    system modules embeddings external kbs admission deployments bindings signal_timeout_ms
    """
)
_MODULES = words(
    """
    hallucination_mitigation prompt_guard prompt_compression classifier complexity feedback_detector
    modality_detector safety preference
    """
)
_STRATEGIES: Mapping[str, Strategy] = {strategy.value: strategy for strategy in Strategy}


@dataclass(frozen=True, slots=True)
class Loaded:
    """A configuration that can serve, and what the operator should know of it."""

    config: Config
    warnings: tuple[Problem, ...] = ()


def load(path: str | os.PathLike[str], environment: Mapping[str, str] | None = None) -> Loaded:
    """The configuration in a file. Raises ConfigError, which holds all problems, where it cannot serve."""
    source = os.fspath(path)
    try:
        with Path(source).open("rb") as handle:
            data = handle.read(yamltext.MAX_BYTES + 1)
    except OSError as error:
        what = error.strerror or type(error).__name__
        raise _refused(source, f"the file cannot be read ({what})", "check the path and its permissions") from error
    if len(data) > yamltext.MAX_BYTES:
        raise _refused(source, f"the file is longer than {yamltext.MAX_BYTES >> 20} MiB", "split or shorten it")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _refused(source, f"byte {error.start} (line {line}) is not UTF-8", "save the file as UTF-8") from error
    return _load(text, source, hashlib.sha256(data).hexdigest(), environment)


def loads(text: str, source: str = "<text>", environment: Mapping[str, str] | None = None) -> Loaded:
    """The configuration in a text; ``source`` stands for the file's name in messages. Raises ConfigError."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return _load(text.removeprefix("\ufeff"), source, digest, environment)


@dataclass(frozen=True, slots=True)
class Report:
    """All problems of a file, the exit code that stands for them, and the configuration where it can serve."""

    problems: tuple[Problem, ...]
    code: int  # 0, 2 with errors, 1 with warnings where strict
    config: Config | None = None


def report(
    path: str | os.PathLike[str], *, strict: bool = False, environment: Mapping[str, str] | None = None
) -> Report:
    """What there is to say of a file. Never raises ConfigError."""
    try:
        loaded = load(path, environment)
    except ConfigError as error:
        return Report(error.problems, 2)
    return Report(loaded.warnings, 1 if strict and loaded.warnings else 0, loaded.config)


def _refused(source: str, message: str, remedy: str) -> ConfigError:
    return ConfigError([Problem(Severity.ERROR, source, 0, 0, "", message, remedy)])


def _load(text: str, source: str, digest: str, environment: Mapping[str, str] | None) -> Loaded:
    try:
        node, repeated = yamltext.parse(text, source)
    except yamltext.YamlError as error:
        raise ConfigError(error.problems) from error
    book = Book(source, os.environ if environment is None else environment)
    book.problems.extend(repeated)
    root = Cursor(node, "", book)
    if root.is_null:
        root.error(
            "the file is empty", "declare a rule: routing: {signals: {hallucination: [{name: ungrounded_claims}]}}"
        )
    known = _TOP | _MISPLACED.keys()
    if layout.is_other(root, known):
        raise ConfigError(book.problems)
    config = _read(root.fields(known | layout.flat_keys(root) | _free_keys(node)), source, digest)
    if not book.sound:
        raise ConfigError(book.problems)
    for tell in book.if_sound:
        tell()
    return Loaded(config, in_file_order(book.problems))


def _read(root: Fields, source: str, digest: str) -> Config:
    _check_version(root)
    shared = root.sub("global", _GLOBAL | {"hallucination_mitigation", "modules"})
    catalog = shared.sub("model_catalog", _CATALOG | {"hallucination_mitigation"})
    modules = catalog.sub("modules", _MODULES)
    for fields in (root, shared, catalog):
        _check_misplaced(fields)
    router, services, stores = (shared.sub(key, None) for key in ("router", "services", "stores"))
    router.warn_of_slips("strategy")
    services.warn_of_slips("router_replay")
    system = System(catalog.sub("system", None).entries)
    settings, replay_at = read_filter(root.get("filter"))
    around = Surroundings(
        models=read_models(modules.get("hallucination_mitigation"), system, default_models(system)),
        system=system,
        strategy=router.choice("strategy", Strategy.PRIORITY, _STRATEGIES),
        decision_source=settings.decision_source,
    )
    recipes = read_recipes(root, around)
    root.at.book.if_sound.append(lambda: _check_use(root, recipes))
    return Config(
        recipes=recipes,
        entrypoints=read_entrypoints(root, recipes),
        filter=settings,
        replay=read_replay(services, stores, replay_at),
        source=source,
        sha256=digest,
    )


def _free_keys(node: yamltext.Node) -> frozenset[str]:
    """Top-level ``x-…`` keys: a customary place for anchors, read by nobody."""
    keys = node.entries.keys() if isinstance(node, yamltext.Mapping) else ()
    return frozenset(key for key in keys if key.startswith("x-"))


def _check_version(root: Fields) -> None:
    version = root.text("version", None)
    if version is not None and version.strip() not in VERSIONS:
        # Another layout may name a rule elsewhere: read as ours, it would silently switch the check off.
        root.place("version").error(
            f"`{version[:40]}` is not a version this filter reads ({', '.join(VERSIONS)})",
            "write v0.3, and check the file against it",
        )


def _check_misplaced(fields: Fields) -> None:
    for key, home in _MISPLACED.items():
        place = fields.get(key)
        if place is not None and place.path != home:
            place.error("is not read here", f"move it to {home}")


def _check_use(root: Fields, recipes: tuple[Recipe, ...]) -> None:
    if not any(recipe.needs_models for recipe in recipes):
        root.at.warn(
            "no recipe declares a hallucination rule or enables the plugin: nothing will be checked",
            "declare a rule under routing.signals.hallucination",
        )
