"""Reading questions; the input half of case E7."""

from __future__ import annotations

from pathlib import Path

import pytest

from vsr_hallucination.evaluation.items import DataError, digest, load_csv, read_csv, repeated_ids


def test_the_documented_columns() -> None:
    (one, two) = read_csv("id,question,gold,unknown_ok,category\na,Q?,4,0,maths\nb,R?,,True,\n", "x.csv")
    assert (one.row, one.id, one.question, one.gold, one.unknown_ok, one.category) == (
        0,
        "a",
        "Q?",
        "4",
        False,
        "maths",
    )
    assert (two.gold, two.unknown_ok) == ("", True)


@pytest.mark.parametrize("word", ["1", "true", "True", "TRUE", "yes"])
def test_unknown_ok_in_its_spellings(word: str) -> None:
    assert read_csv(f"id,question,gold,unknown_ok\na,Q,,{word}\n", "x")[0].unknown_ok


def test_e7_bom_semicolons_and_a_column_like_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes('\ufeff+id;question;gold;unknown_ok\r\n"a;1";"Was ist ""x""; und y?";3,5;0\r\n'.encode())
    (item,) = load_csv(path)
    assert (item.id, item.question, item.gold) == ("a;1", 'Was ist "x"; und y?', "3,5")


def test_e7_an_extra_column_of_that_name_hides_nothing() -> None:
    (item,) = read_csv("+id\tid\tquestion\tgold\tunknown_ok\nno\tyes\tQ\tG\t0\n", "x")
    assert item.id == "yes"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("id,question,gold,unknown_ok\n", "no rows"),
        ("id,question\na,b\n", "no column gold, unknown_ok"),
        ("id,question,gold,unknown_ok\na,Q,G,maybe\n", "x.csv:2: unknown_ok is 'maybe'"),
        ("id,question,gold,unknown_ok\na,,G,0\n", "x.csv:2: no question"),
        ("id,question,gold,unknown_ok\na,Q,,0\n", "x.csv:2: no gold answer"),
        ('id,question,gold,unknown_ok\na,"Q,G,0\n', "quote"),
    ],
)
def test_what_is_wrong_and_where(text: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_csv(text, "x.csv")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"):
        load_csv(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes("id,question,gold,unknown_ok\na,Qué,x,0\n".encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8"):
        load_csv(tmp_path / "latin.csv")


def test_items_of_one_id_are_told_apart_by_row() -> None:
    items = read_csv("id,question,gold,unknown_ok\na,Q,1,0\na,R,2,0\n", "x")
    assert [item.row for item in items] == [0, 1]
    assert repeated_ids(items) == ("a",)
    assert digest(items) != digest(items[:1])
