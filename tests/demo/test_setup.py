"""The set-up is the shipped example, on other ports."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx
import pytest
import yaml

from vsr_hallucination.cli.failure import Failure
from vsr_hallucination.config import load
from vsr_hallucination.config.schema import Action
from vsr_hallucination.demo.command import _fixed_ports, _upstream
from vsr_hallucination.demo.processes import ChildFailed, choose_ports
from vsr_hallucination.demo.script import steps
from vsr_hallucination.demo.setup import EnvoyMissing, envoy_command, example, with_ports
from vsr_hallucination.demo.upstream import PATH

PORTS = {"envoy": 18801, "envoy-admin": 18802, "filter": 18803, "admin": 18804, "upstream": 18805}


def loaded(tmp_path: Path, *, broken: bool):  # type: ignore[no-untyped-def]
    file = tmp_path / "demo.yaml"
    file.write_text(yaml.safe_dump(with_ports(example(), PORTS, broken=broken)))
    return load(file)


def test_the_example_loads_without_a_warning_on_any_ports(tmp_path: Path) -> None:
    found = loaded(tmp_path, broken=False)
    assert found.warnings == ()
    ours = found.config.filter
    assert ours.server.listen == ("127.0.0.1:18803",)
    assert ours.admin.listen == "127.0.0.1:18804"
    assert (ours.envoy.listen, ours.envoy.upstream) == ("127.0.0.1:18801", "127.0.0.1:18805")


def test_the_broken_one_differs_by_its_detector(tmp_path: Path) -> None:
    whole, broken = loaded(tmp_path, broken=False).config, loaded(tmp_path, broken=True).config
    assert broken.recipes[0].detector.model == "/nonexistent/detector"
    assert broken.recipes[0].decisions == whole.recipes[0].decisions
    assert broken.recipes[0].fact_check == whole.recipes[0].fact_check


def test_the_example_has_a_decision_for_each_policy_of_the_tour(tmp_path: Path) -> None:
    decisions = loaded(tmp_path, broken=False).config.recipes[0].decisions
    actions = {decision.plugin.hallucination_action for decision in decisions if decision.plugin}
    assert {Action.HEADER, Action.BODY, Action.BLOCK} <= actions


async def test_envoy_comes_from_the_wheel() -> None:
    command = await envoy_command(None)
    assert Path(command[0]).is_file()
    assert "envoy" not in sys.modules  # its package name is also others'


async def test_an_envoy_of_ones_own() -> None:
    assert await envoy_command("/opt/envoy -c {config}") == ("/opt/envoy", "-c", "{config}")


async def test_no_envoy_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vsr_hallucination.demo.setup._ENVOY_PATH", "import no_such_package_here")
    with pytest.raises(EnvoyMissing, match=r"pip install 'vsr-hallucination\[demo\]'"):
        await envoy_command(None)


@pytest.mark.parametrize(
    "pair", ["envoy", "envoy=", "envoy=x", "nobody=1", "envoy=0", "envoy=70000", "envoy=²"]
)
def test_wrong_ports_are_said(pair: str) -> None:
    with pytest.raises(Failure, match="NAME=PORT"):
        _fixed_ports([pair])


def test_ports_by_name() -> None:
    assert _fixed_ports(["envoy=18801", "envoy-admin=18802"]) == {"envoy": 18801, "envoy-admin": 18802}
    with pytest.raises(Failure, match="twice"):
        _fixed_ports(["envoy=18801", "admin=18801"])


async def test_the_upstream_says_what_the_script_says() -> None:
    port = choose_ports((("upstream", 0),), {})["upstream"]
    async with _upstream(port, steps()), httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        step = steps()[0]
        answer = (await client.post(PATH, json=step.request())).json()
        assert answer["choices"][0]["message"]["content"] == step.answer
        said = (await client.post(PATH, json={"model": "m", "metadata": {"answer": "mine"}})).json()
        assert said["choices"][0]["message"]["content"] == "mine"
        stream = (await client.post(PATH, json={**step.request(), "stream": True})).text
        assert stream.endswith("data: [DONE]\n\n")
        assert (await client.post(PATH, json={"model": "m"})).status_code == 404
        assert (await client.post(PATH, content=b"{")).status_code == 400
        assert (await client.post(PATH, content=b"[]")).status_code == 400


async def test_a_busy_upstream_port_is_said() -> None:
    port = choose_ports((("upstream", 0),), {})["upstream"]
    async with _upstream(port, steps()):
        with pytest.raises(ChildFailed, match=f"port {port} is busy"):
            async with _upstream(port, steps()):
                pass
