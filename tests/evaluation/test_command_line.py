"""``eval`` as it is typed: help, the demo, and the flags that gemhall's users know."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.eval_runs import Ran
from support.model_server import gemini_says, in_turn, running_models
from vsr_hallucination.cli import main
from vsr_hallucination.cli.parser import make_parser

HEAVY = ("numpy", "httpx", "matplotlib", "pandas", "datasets", "google.genai", "starlette", "torch", "yaml")


def test_the_flags_of_gemhall_work_as_they_are() -> None:
    run = make_parser().parse_args(
        "eval model --data toy.csv --thresholds 0.5 0.75 0.9 --model gemini-2.5-flash-lite --temperature 0.0 "
        "--thinking-budget 0 --seed 1234 --judge exact --async --concurrency 8 --progress --out outputs "
        "--rpm-limit 180 --max-retries 8".split()
    )
    assert (run.thresholds, run.rpm_limit, run.max_retries) == ([0.5, 0.75, 0.9], 180, 8)
    mmlu = make_parser().parse_args(
        "eval mmlu --thresholds 0.5 --model gemini-2.5-flash-lite --split test --subjects all --limit 200 --judge llm "
        "--async --concurrency 16 --progress --out outputs/mmlu --idk-frac 0.3".split()
    )
    assert (mmlu.limit, mmlu.idk_frac, mmlu.subjects) == (200, 0.3, ["all"])


def test_the_defaults_of_gemhall() -> None:
    args = make_parser().parse_args(["eval", "model", "--data", "x"])
    assert (args.temperature, args.thinking_budget, args.seed, args.judge) == (0.0, 0, 1234, "exact")
    assert (args.concurrency, args.out, args.rpm_limit, args.max_retries) == (8, "outputs", None, 6)
    assert (args.max_tokens, args.judge_max_tokens) == (128, 4)


@pytest.mark.parametrize(
    "words",
    ["eval", "eval model", "eval nothing", "eval model --data x --demo", "eval model --data x --concurrency 0",
     "eval model --data x --rpm-limit -1", "eval mmlu --idk-frac 1.5", "eval model --data x --resume --overwrite"],
)  # fmt: skip
def test_wrong_usage(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words.split())
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom vsr_hallucination.cli import main\n"
        "try:\n    main(['eval', 'model', '--help'])\nexcept SystemExit:\n    pass\n"
        f"print('HEAVY', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert shown.stdout.splitlines()[-1] == "HEAVY []", shown.stderr


def test_running_needs_no_optional_package(tmp_path: Path) -> None:
    """The core install: no pandas, datasets, google-genai, matplotlib."""
    code = (
        "import sys\nfor name in ('pandas', 'datasets', 'google.genai', 'matplotlib'):\n    sys.modules[name] = None\n"
        "from vsr_hallucination.evaluation import plots\nplots.available = lambda: False\n"
        "from vsr_hallucination.cli import main\n"
        f"sys.exit(main(['eval', 'model', '--demo', '--out', {str(tmp_path / 'out')!r}]))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert "no picture: pip install 'vsr-hallucination[eval]'" in ran.stderr


def test_the_demo_needs_no_key_and_may_be_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vsr_hallucination.evaluation.plots.available", lambda: False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for _ in range(2):
        code = main(["eval", "model", "--demo", "--out", str(tmp_path / "out")])
        ran = Ran(code, tmp_path / "out", *capsys.readouterr())
        assert ran.code == 0
    assert [(t["t"], t["answered"], t["correct"]) for t in ran.metrics["thresholds"]] == [
        (0.5, 3, 1),
        (0.75, 1, 1),
        (0.9, 1, 1),
    ]
    assert "t=0.5 " in ran.stdout and "report.md" in ran.stdout


def test_a_key_is_asked_for_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "GOOGLE_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_GENAI_USE_VERTEXAI",
    ):
        monkeypatch.delenv(name, raising=False)
    data = tmp_path / "data.csv"
    data.write_text("id,question,gold,unknown_ok\na,Q,x,0\n", "utf-8")
    words = ["eval", "model", "--data", str(data), "--thresholds", "0.5", "--out", str(tmp_path / "out")]
    assert main([*words, "--model", "gpt-x"]) == 2
    assert "OPENAI_API_KEY is not set" in capsys.readouterr().err
    assert main([*words, "--base-url", "http://127.0.0.1:9/v1"]) == 2
    assert "--model NAME" in capsys.readouterr().err
    assert main(words) == 2
    assert "export GOOGLE_API_KEY" in capsys.readouterr().err
    assert main([*words[:4], "--model", "m", "--base-url", "http://127.0.0.1:9/v1"]) == 2
    assert "no threshold given" in capsys.readouterr().err
    assert not (tmp_path / "out" / "results.csv").exists()


def test_gemini_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vsr_hallucination.evaluation.plots.available", lambda: False)
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    monkeypatch.setenv("GOOGLE_API_KEY", "k")
    data = tmp_path / "data.csv"
    data.write_text("id,question,gold,unknown_ok\na,Q?,x,0\n", "utf-8")
    with running_models(in_turn(gemini_says("x"))) as server:
        words = ["eval", "model", "--data", str(data), "--thresholds", "0.5", "--provider", "gemini"]
        code = main([*words, "--base-url", server.root, "--out", str(tmp_path / "out")])
        (asked,) = server.asked
    assert code == 0, capsys.readouterr().err
    assert "gemini-2.5-flash:" in asked.request.path
