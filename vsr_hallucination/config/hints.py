"""What a person most likely meant by a key that is not known where it stands: another spelling, or another place."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from vsr_hallucination.config.problems import listed, nearest

# Words people write for keys that are spelt otherwise; of several keys, the first that is known there.
_SAID: Mapping[str, tuple[str, ...]] = {
    "cfg": ("configuration",),
    "settings": ("configuration",),
    "options": ("configuration",),
    "params": ("configuration",),
    "parameters": ("configuration",),
    "policies": ("decisions",),
    "routes": ("decisions",),
    "when": ("rules",),
    "match": ("rules",),
    "op": ("operator",),
    "all": ("conditions",),
    "any": ("conditions",),
    "words": ("keywords",),
    "terms": ("keywords",),
    "patterns": ("keywords",),
    "id": ("name",),
    "title": ("name",),
    "active": ("enabled",),
    "on": ("enabled",),
    "action": ("hallucination_action",),
    "unverifiedaction": ("unverified_factual_action",),
    "details": ("include_hallucination_details",),
    "nli": ("use_nli", "nli_model"),
    "model": ("model_id",),
    "modelpath": ("model_id",),
    "modelname": ("model_id", "model_names"),
    "path": ("model_id", "paths"),
    "gpu": ("use_cpu",),
    "device": ("use_cpu",),
    "url": ("base_url", "upstream"),
    "uri": ("url",),
    "dsn": ("url",),
    "database": ("url",),
    "backend": ("upstream",),
    "target": ("upstream",),
    "address": ("listen",),
    "addr": ("listen",),
    "bind": ("listen",),
    "host": ("listen",),
    "port": ("listen",),
    "tls": ("upstream_tls",),
    "https": ("upstream_tls",),
    "cert": ("certificate", "client_certificate"),
    "ca": ("client_ca", "filter_ca"),
    "password": ("token",),
    "timeout": ("deadline", "message_timeout"),
    "workers": ("threads",),
    "log": ("log_level",),
    "level": ("log_level",),
    "ttl": ("max_age",),
    "ttlseconds": ("max_age",),
    "retention": ("max_age",),
    "maxbytes": ("check", "max_response_bytes"),
    "maxsize": ("check",),
    "body": ("check",),
    "hallucinationmodel": ("hallucination_model", "detector"),
}
_SHORTEST = 3  # characters of a key that may stand for a longer one
_GENERIC = frozenset("name type description model enabled method operator default models source".split())
_MODELS = "global.model_catalog.modules.hallucination_mitigation"
# Each of the three models has a threshold: which one is meant, the place says.
_THRESHOLDS = (
    ("fact_check", f"{_MODELS}.fact_check_model.threshold"),
    ("nli|explainer", f"{_MODELS}.nli_model.threshold"),
    ("", f"{_MODELS}.hallucination_model.threshold"),
)
_MOST_HOMES = 2


def remedy(key: str, path: str, known: Collection[str], *, owned: bool) -> str:
    """What to do about ``key``, which is unknown at ``path`` (its own), where ``known`` could stand."""
    if path == key and (block := _of_filter(key)) is not None:
        return f"it is read at filter.{block}: move it there"
    meant = spelling(key, known)
    if meant is not None:
        return f"did you mean `{meant}`?"
    words = (key, *_SAID.get(_plain(key), ()))
    places = next((found for word in words if (found := homes(word, path))), ())
    if places:
        return f"it is read at {listed(places)}: move it there"
    if owned:
        return f"remove it; known here: {listed(sorted(known), 'and')}"
    return "remove it if it is a mistake: this filter does not read it"


def spelling(key: str, known: Collection[str]) -> str | None:
    """The known key that is meant: another word for it, a short or long form of it, or one nearly spelt so."""
    word = _plain(key)
    for target in _SAID.get(word, ()):
        if target in known:
            return target
    if len(word) >= _SHORTEST:
        longer = [name for name in known if _plain(name).startswith(word)]
        if len(longer) == 1:
            return longer[0]
    return nearest(key, known)


def homes(key: str, path: str) -> tuple[str, ...]:
    """Where a key of this name is read, if it is told by that: the places that have most in common with ``path``."""
    if key == "threshold":
        above = path.rpartition(".")[0]
        return (next(home for pattern, home in _THRESHOLDS if re.search(pattern, above)),)
    if key in _GENERIC:
        return ()
    from vsr_hallucination.config.reference import reference  # only where a key is unknown: the table is large

    found = [
        f"{place.replace('recipes[].hallucination_mitigation', _MODELS)}.{each.name}"
        for place, block in reference().walk()
        for each in block.keys
        if _plain(each.name) == _plain(key) and place
    ]
    here = _words(path)
    shared = max((len(here & _words(home)) for home in found), default=0)
    if not shared and not any("_" in home.rpartition(".")[2] for home in found):
        return ()  # a plain word says too little of what is meant
    best = [home for home in found if len(here & _words(home)) == shared]
    return tuple(best) if len(best) <= _MOST_HOMES else ()


def _of_filter(key: str) -> str | None:
    """The key of ``filter`` that somebody wrote at the top of the file."""
    from vsr_hallucination.config.reference_filter import FILTER_BLOCKS  # only where a key is unknown

    return next((each.name for each in FILTER_BLOCKS[0].keys if _plain(each.name) == _plain(key)), None)


def _plain(key: str) -> str:
    return key[:80].casefold().replace("_", "").replace("-", "")


def _words(path: str) -> set[str]:
    return {word for word in re.split(r"[^a-z]+", path.rpartition(".")[0].casefold()) if word}
