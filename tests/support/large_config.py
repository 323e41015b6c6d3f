"""A configuration as large as anybody's."""

from __future__ import annotations

LINES = 2000


def large() -> str:
    """A usable configuration of two thousand lines: rules, keywords, projections, decisions, recipes."""
    out = ["version: v0.3", "recipes:"]
    recipe = 0
    while len(out) < LINES - 60:
        recipe += 1
        out += [
            f"  - name: recipe_{recipe}",
            "    routing:",
            "      strategy: priority",
            "      signals:",
            "        hallucination:",
            "          - name: claims",
            "            use_nli: true",
            "            description: Claims that the evidence does not support.",
            "        fact_check:",
            "          - name: needs_fact_check",
            "        keywords:",
        ]
        for n in range(5):
            out += [
                f"          - name: words_{n}",
                "            operator: OR",
                f"            keywords: [alpha{n}, beta]",
            ]
        out += ["      projections:", "        scores:", "          - name: pressure", "            inputs:"]
        for n in range(5):
            out += ["              - type: keyword", f"                name: words_{n}", "                weight: 0.2"]
        out += [
            "        mappings:",
            "          - name: band",
            "            source: pressure",
            "            outputs:",
            "              - name: calm",
            "                lt: 0.5",
            "              - name: pressed",
            "                gte: 0.5",
            "      decisions:",
        ]
        for n in range(5):
            out += [
                f"        - name: decision_{n}",
                f"          priority: {n}",
                "          rules:",
                "            operator: AND",
                "            conditions:",
                "              - type: keyword",
                f"                name: words_{n}",
                "              - type: projection",
                "                name: pressed",
                "          plugins:",
                "            - type: hallucination",
                "              configuration:",
                "                enabled: true",
                "                hallucination_action: body",
            ]
    return "\n".join(out) + "\n"
