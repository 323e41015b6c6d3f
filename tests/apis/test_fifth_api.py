"""A fifth client API is one module and one row: all that names APIs follows. Tried in a copy of the package."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import vsr_hallucination

PACKAGE = Path(vsr_hallucination.__file__).parent
MODULE = """
from vsr_hallucination.apis.openai_completions import OpenAICompletions


class Fifth(OpenAICompletions):
    name = "fifth"
"""
ROW = '    Served("fifth", "Fifth", "/v5/fifth", "/fifth"),\n'
SHOWN = """
import json
import vsr_hallucination
from vsr_hallucination.config import loads
from vsr_hallucination.config.json_schema import json_schema
from vsr_hallucination.config.reference import reference
from vsr_hallucination.config.reference_page import reference_page
from vsr_hallucination.envoy_config import bootstrap_yaml
from vsr_hallucination.intake import take_headers
from vsr_hallucination.wire.messages import HeaderMap, RequestHeaders

loaded = loads(
    "routing: {signals: {hallucination: [{name: a}]}, decisions: [{name: all, plugins: "
    "[{type: hallucination, configuration: {enabled: true}}]}]}\\nfilter: {apis: {/ask: fifth}}"
)
assert loaded.warnings == (), loaded.warnings
config = loaded.config
def spoken(path):
    return take_headers(RequestHeaders(HeaderMap([(":method", "POST"), (":path", path)])), config, {}).api.name
settings = json_schema(reference())["$defs"]["filter"]["properties"]["apis"]
print(json.dumps({
    "package": vsr_hallucination.__file__,
    "mapped": spoken("/ask"),
    "own path": spoken("/v5/fifth?x=1"),
    "routed": "v5_fifth" in bootstrap_yaml(config),
    "schema": "fifth" in json.dumps(settings),
    "page": "`fifth`" in reference_page(reference()),
}))
"""


def run(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, timeout=110)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns("models", "__pycache__"))
    return tmp_path


def add(folder: Path, module: str, row: str = ROW) -> None:
    apis = folder / PACKAGE.name / "apis"
    (apis / "fifth.py").write_text(module)
    table = (apis / "served.py").read_text()
    end = table.index("\n)\n", table.index("SERVED: Final")) + 1
    (apis / "served.py").write_text(table[:end] + row + table[end:])


def test_a_module_and_a_row_are_all_it_takes(copy: Path) -> None:
    add(copy, MODULE)
    done = run(copy, SHOWN)
    assert done.returncode == 0, done.stderr[-2000:]
    shown = json.loads(done.stdout)
    assert shown.pop("package").startswith(str(copy))
    assert shown == {"mapped": "fifth", "own path": "fifth", "routed": True, "schema": True, "page": True}


def test_a_module_that_lacks_a_part_is_found_out_at_the_start(copy: Path) -> None:
    add(copy, 'class Fifth:\n    name = "fifth"\n')
    done = run(copy, "import vsr_hallucination.apis.registry")
    assert done.returncode == 1
    assert "Fifth in apis/fifth.py does not fulfil Api" in done.stderr
