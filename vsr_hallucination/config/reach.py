"""What of a recipe can act here at all: decisions that are never selected, rules that nothing enforces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vsr_hallucination.config.cursor import Fields
from vsr_hallucination.config.problems import listed, some
from vsr_hallucination.config.rules import Draft
from vsr_hallucination.config.schema import Decision, DecisionSource
from vsr_hallucination.config.signals import Signals

MOST_SINGLY = 4  # findings of one kind that are told one by one; more become one line, as a screen is short
_MOST_READ = 6
_ENABLED = "plugins: [{type: hallucination, configuration: {enabled: true}}]"


@dataclass(frozen=True, slots=True)
class Foreign:
    """What a decision reads that is not evaluated here: as told of it alone, and the families behind it."""

    told: tuple[str, ...] = ()
    families: tuple[str, ...] = ()


def tell_unreachable(
    body: Fields, signals: Signals, found: Sequence[tuple[Draft, Foreign]], source: DecisionSource
) -> None:
    """Decisions and keyword rules that do not do here what they do in the router.

    Not where nobody asks: where the recipe checks nothing, or somebody else selects the decision.
    """
    plugins = (draft.decision.plugin for draft, _ in found)
    if source is not DecisionSource.RULES or not (signals.hallucination or any(p and p.enabled for p in plugins)):
        return
    _tell_approximate(signals)
    _tell_never_selected(body, found)


def _tell_approximate(signals: Signals) -> None:
    """Keyword rules that ask for a kind of matching that is not done here: one by one, or many in one line."""
    remedy = "list further spellings, or take decisions from upstream (filter.decision_source)"
    if len(signals.approximate) <= MOST_SINGLY:
        for at, method in signals.approximate:
            at.warn(f"`{method}` matching is not done here: keywords are matched as they are written", remedy)
        return
    methods = listed(list(dict.fromkeys(f"`{method}`" for _, method in signals.approximate)), "and")
    signals.approximate[0][0].warn(
        f"{methods} matching, which {len(signals.approximate)} rules ask for, is not done here: "
        "keywords are matched as they are written",
        remedy,
    )


def _tell_never_selected(body: Fields, found: Sequence[tuple[Draft, Foreign]]) -> None:
    foreign = [(draft, why) for draft, why in found if why.told]
    remedy = (
        "give {} a rule over keyword or fact_check, or take decisions from the route or the upstream "
        "router (filter.decision_source)"
    )
    if len(foreign) <= MOST_SINGLY:
        for draft, why in foreign:
            draft.at.warn(
                f"decision `{draft.decision.name}` reads {listed(why.told[:_MOST_READ], 'and')}, "
                "which this filter does not evaluate: it is never selected here",
                remedy.format("it"),
            )
        return
    families = list(dict.fromkeys(family for _, why in foreign for family in why.families))
    names = [f"`{draft.decision.name[:60]}`" for draft, _ in foreign]
    body.place("decisions").warn(
        f"{len(foreign)} of {len(found)} decisions read {some(families)}, which this filter does not evaluate: "
        f"{some(names)} are never selected here",
        remedy.format("them"),
    )


def tell_unenforced(
    name: str, signals: Signals, drafts: Iterable[Draft], decisions: Iterable[Decision], source: DecisionSource
) -> None:
    """Rules without an enabled plugin, plugins without a rule, plugins of decisions that are never selected."""
    plugins = [(draft, made) for draft, made in zip(drafts, decisions, strict=True) if made.plugin is not None]
    enabled = [(draft, made) for draft, made in plugins if made.plugin is not None and made.plugin.enabled]
    acting = [(d, made) for d, made in enabled if made.selectable or source is not DecisionSource.RULES]
    if signals.hallucination:
        for draft, _ in plugins:
            if draft.plugin_use_nli is not None:
                draft.plugin_use_nli.warn(
                    "is ignored: the recipe declares a hallucination rule, and the rule's use_nli counts",
                    "remove it here, and set use_nli on the rule",
                )
        if not acting and (enabled or not plugins or not any(draft.plugin_told for draft, _ in plugins)):
            _only_observed(name, signals, never_selected=bool(enabled))
        return
    for draft, made in acting:
        if draft.plugin_at is not None:
            draft.plugin_at.warn(
                f"decision `{made.name}` enables the plugin, and no hallucination rule is "
                "declared: the plugin checks the answer itself (compatibility path; streams are not checked)",
                "declare a rule under signals.hallucination",
            )
    if enabled and not acting and (at := enabled[0][0].plugin_at) is not None:
        at.warn(
            f"no decision of recipe `{name[:60]}` that enables the plugin can be selected here, and no hallucination "
            "rule is declared: nothing will be checked",
            "declare a rule under signals.hallucination: it observes the answers of every decision",
        )


def _only_observed(name: str, signals: Signals, *, never_selected: bool) -> None:
    if signals.hallucination_at is None:
        return
    rules = [f"`{rule.name[:60]}`" for rule in signals.hallucination]
    many = len(rules) > 1
    why = "that can be selected here enables" if never_selected else "enables"
    at = signals.hallucination_at
    at.book.if_sound.append(
        lambda: at.warn(
            f"{'rules' if many else 'rule'} {some(rules)} only observe{'' if many else 's'}: no decision of recipe "
            f"`{name[:60]}` {why} the hallucination plugin, so nothing is enforced",
            f"write `{_ENABLED}` at a decision; if it is meant so, write `enabled: false` there",
        )
    )
