"""What a run leaves; case E7."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from support.eval_runs import Run, strict
from support.model_server import IDK, running_models, says
from vsr_hallucination.evaluation import artifacts
from vsr_hallucination.evaluation.metrics import Summary, summarise
from vsr_hallucination.evaluation.plots import axes, draw_curve, model_curve
from vsr_hallucination.evaluation.report import RunFacts, advice, report
from vsr_hallucination.evaluation.scoring import Item, Kind, Outcome, State

E7_ANSWERS = [
    '=HYPERLINK("http://x","y")',
    "\u200b=1+1",
    "\t@SUM(A1)",
    "-3.5",
    "+1-555",
    "＝1+1",
    " -cmd|' /C calc'!A0",
]


@pytest.mark.parametrize("text", ['=HYPERLINK("http://x","y")', "\u200b=1+1", "\t@SUM(A1)", "+1-555", "-1+2",
                                  "@x", "\r=1",
                                  "\n=1", "＝1+1", " =1", "\ufeff=1", "-", "--1"])  # fmt: skip
def test_e7_cells_that_would_be_formulas(text: str) -> None:
    assert artifacts.safe_cell(text) == "'" + text


@pytest.mark.parametrize(
    "text", ["-3.5", "+7", "-1,000.50", "-5%", "1e-5", "", "plain", "a=b", "3-4", "'=1", "“x”", "不知道"]
)
def test_e7_cells_that_are_left_alone(text: str) -> None:
    assert artifacts.safe_cell(text) == text


def test_e7_a_run_with_dangerous_answers(run_eval: Run) -> None:
    said = iter(E7_ANSWERS)
    data = "\ufeff+id;question;gold;unknown_ok\r\n" + "".join(
        f"=i{n};Q{n}?;-3.5;0\r\n" for n in range(len(E7_ANSWERS))
    )
    with running_models(lambda _: says(next(said))) as server:
        ran = run_eval(server.url, data, "--concurrency", "1")
    assert ran.code == 0
    with (ran.out / "results.csv").open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [
        cell for cell in cells if cell.lstrip("\u200b\ufeff \t\r\n")[:1] in set("=+@＝") or cell[:1] == "\t"
    ]
    assert {cell for cell in cells if cell.startswith("-")} == {"-3.5", "-1.0"}
    right = [row for row in ran.rows if row["correct"] == "1"]
    assert [(row["pred"], row["gold"], row["id"]) for row in right] == [("-3.5", "-3.5", "'=i3")]


def test_e7_every_item_abstains(run_eval: Run) -> None:
    with running_models(lambda _: IDK) as server:
        ran = run_eval(
            server.url, [("a", "A?", "x", 0), ("b", "B?", "x", 0)], thresholds=("0.5", "0.9"), plot=True
        )
    assert ran.code == 0
    for at in ran.metrics["thresholds"]:
        assert (at["coverage"], at["graded"]) == (0.0, 0)
        assert at["accuracy_conditioned_on_answering"] is None
        assert at["accuracy_interval"] is None
        assert at["hallucination_rate_among_answers"] is None
    strict(ran.out / "behavior.json")
    assert (ran.out / "rc_curve.png").read_bytes().startswith(b"\x89PNG")


def test_e7_a_single_item_has_a_picture(run_eval: Run) -> None:
    with running_models(lambda _: says("x")) as server:
        ran = run_eval(server.url, [("a", "A?", "x", 0)], plot=True)
    assert ran.code == 0
    assert ran.metrics["thresholds"][0]["accuracy_interval"][0] == pytest.approx(0.2065, abs=1e-3)
    assert "![" in ran.report and "rc_curve.png" in ran.report
    assert (ran.out / "rc_curve.png").stat().st_size > 5000


def test_without_matplotlib_the_report_says_so_and_an_old_picture_goes(run_eval: Run) -> None:
    with running_models(lambda _: says("x")) as server:
        rows = [("a", "A?", "x", 0)]
        ran = run_eval(server.url, rows)
        (ran.out / "rc_curve.png").write_bytes(b"old")
        again = run_eval(server.url, rows, "--resume")
    assert not (again.out / "rc_curve.png").exists()
    assert "matplotlib is not installed" in again.report


def test_a_nan_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        artifacts.write_json(tmp_path / "x.json", {"x": float("nan")})
    assert list(tmp_path.iterdir()) == []


def made(*counts: dict[State, int], n: int, t: tuple[float, ...]) -> Summary:
    """A summary of items whose states follow the counts, in this order, at each threshold."""
    columns = [[state for state, count in found.items() for _ in range(count)] for found in counts]
    items = [Item(row, f"i{row}", "q", "g", False) for row in range(n)]
    outcomes = (
        (
            item,
            Outcome(
                item.row,
                at,
                columns[at][item.row],
                kind=Kind.TRUNCATED if columns[at][item.row] is UN else None,
            ),
        )
        for item in items
        for at in range(len(t))
    )
    return summarise(outcomes, t, n)


R, W, A, UN = State.RIGHT, State.WRONG, State.ABSTAINED, State.UNAVAILABLE


def test_advice_over_confident_only_beyond_noise() -> None:
    sure = made({R: 50, W: 50}, n=100, t=(0.9,))
    (line,) = advice(sure)
    assert "over-confident" in line and "Raise t" in line
    (line,) = advice(made({R: 4, W: 1}, n=5, t=(0.9,)))
    assert "within the interval" in line


def test_advice_too_cautious() -> None:
    (line,) = advice(made({R: 10, A: 90}, n=100, t=(0.9,)))
    assert "too cautious" in line and "Lower t" in line


def test_advice_where_both_fail_is_one() -> None:
    (line,) = advice(made({R: 10, W: 20, A: 70}, n=100, t=(0.9,)))
    assert "no other t will mend that" in line and "retrieval" in line


def test_advice_on_truncation_and_none() -> None:
    assert "--max-tokens" in advice(made({R: 90, UN: 10}, n=100, t=(0.5,)))[0]
    assert advice(made({R: 98, UN: 2}, n=100, t=(0.5,))) == advice(made({R: 100}, n=100, t=(0.5,)))
    assert "Nothing stands out" in advice(made({R: 100}, n=100, t=(0.5,)))[0]


def test_monotonicity_is_violated_only_beyond_noise() -> None:
    noise = made({R: 50, A: 50}, {R: 52, A: 48}, n=100, t=(0.5, 0.9))
    (one,) = noise.violations()
    assert (one.figure, one.beyond_noise, one.p_value) == ("coverage", False, 0.25)
    assert artifacts.behavior_json(noise)["coverage_monotonicity_violations"] == 0
    real = made({R: 50, A: 50}, {R: 60, A: 40}, n=100, t=(0.5, 0.9))
    assert artifacts.behavior_json(real)["coverage_monotonicity_violations"] == 1
    worse = made({R: 90, W: 10}, {R: 60, W: 40}, n=100, t=(0.5, 0.9))
    assert artifacts.behavior_json(worse)["accuracy_monotonicity_violations"] == 1
    slightly = made({R: 90, W: 10}, {R: 88, W: 12}, n=100, t=(0.5, 0.9))
    assert artifacts.behavior_json(slightly)["accuracy_monotonicity_violations"] == 0
    assert artifacts.behavior_json(slightly)["within_noise"] == 1


def test_figures_by_hand() -> None:
    # t = 0.75, a wrong answer costs 3: 6 right, 2 wrong, 4 IDK → (6 − 6)/12 = 0
    (f,) = made({R: 6, W: 2, A: 4}, n=12, t=(0.75,)).figures
    assert (f.coverage, f.accuracy, f.expected_score) == (8 / 12, 6 / 8, 0.0)
    shown = f.to_json()
    assert shown["hallucination_rate_among_answers"] == 2 / 8
    assert shown["accuracy_interval"] == pytest.approx([0.4093, 0.9285], abs=1e-4)


def test_few_answers_are_drawn_and_marked(tmp_path: Path) -> None:
    summary = made({R: 40, W: 10, A: 5}, {R: 10, W: 0, A: 45}, {A: 55}, n=55, t=(0.5, 0.9, 0.95))
    model_curve(summary, tmp_path / "x.png", "model $x_{")
    assert (tmp_path / "x.png").stat().st_size > 5000
    text = report(summary, RunFacts("a|b [c](d) <script>", {"model": "`x`"}), "rc_curve.png")
    assert "n = 10 (few)" in text and "n = 50 |" in text
    assert "<script>" not in text and "`x`" in text
    assert "high-stakes" in text and "drafting" in text


def test_each_point_of_the_picture_is_labelled_with_its_t_and_its_answers() -> None:
    summary = made({R: 40, W: 10, A: 5}, {R: 10, W: 0, A: 45}, {A: 55}, n=55, t=(0.5, 0.9, 0.95))
    figure, ax = axes()
    draw_curve(summary, ax, "a model")
    points = {text.get_text(): text.xy for text in ax.texts if hasattr(text, "xy")}  # annotations have a point
    assert points == {"t=0.5 (n=50)": (50 / 55, 40 / 50), "t=0.9 (n=10)": (10 / 55, 1.0)}
    others = [text.get_text() for text in ax.texts if not hasattr(text, "xy")]
    assert others == ["no answer to grade at t=0.95", "faint: fewer than 30 answers"]
    figure.canvas.draw()
    inside = figure.bbox
    for text in ax.texts:
        box = text.get_window_extent()
        assert inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1, text


def test_points_at_one_place_share_a_label() -> None:
    _, ax = axes()
    draw_curve(made({R: 40, W: 15}, {R: 40, W: 15}, n=55, t=(0.5, 0.75)), ax, "a model")
    assert [text.get_text() for text in ax.texts] == ["t=0.5, 0.75 (n=55, 55)"]


def test_the_category_is_kept(run_eval: Run) -> None:
    data = "id,question,gold,unknown_ok,category\na,A?,x,0,maths\nb,B?,y,0,law\n"
    with running_models(lambda _: says("x")) as server:
        ran = run_eval(server.url, data)
    assert [row["category"] for row in ran.rows] == ["maths", "law"]
    assert ran.metrics["categories"]["maths"][0]["accuracy_conditioned_on_answering"] == 1.0
    assert ran.metrics["categories"]["law"][0]["accuracy_conditioned_on_answering"] == 0.0
