"""The soak run itself, short: it gets far with its inputs, and it fails where a rule is broken."""

import random

import pytest
from soak.apis import changed, seeds, soak

from support.api_rules import APIS, Counted, hold


def test_a_short_soak(capsys):
    assert soak(1500, seed=7) == 0
    assert "none broke a rule" in capsys.readouterr().out


def test_most_inputs_get_somewhere():
    counted, bodies = Counted(), seeds()
    for number in range(800):
        source, name = random.Random(number), list(APIS)[number % 4]
        hold(name, changed(source, bodies[name]), source, counted)
    assert min(counted.requests, counted.answers, counted.rewritten, counted.streams) > 10, counted


def test_a_broken_rule_ends_the_run(monkeypatch, capsys):
    def broken(body):
        raise KeyError("choices")

    for api in APIS.values():
        monkeypatch.setattr(type(api), "read_response", lambda self, body: broken(body))
    with pytest.raises(KeyError):
        soak(5, seed=1)
    assert "FAIL seed 1 input 0" in capsys.readouterr().err
