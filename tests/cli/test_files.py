from __future__ import annotations

from pathlib import Path

import pytest

from vsr_hallucination.cli.failure import Failure
from vsr_hallucination.cli.files import read_text


def test_text_comes_exactly_as_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes("zwei\r\nZeilen 🧪\n".encode())
    assert read_text(str(file)) == "zwei\r\nZeilen 🧪\n"


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"\xef\xbb\xbf479")
    assert read_text(str(file)) == "479"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: None, "no such file"),
        (lambda p: p.mkdir(), "is a directory"),
        (lambda p: p.write_bytes(b"caf\xe9"), "not UTF-8 text (byte 3)"),
    ],
)
def test_what_cannot_be_read_is_said_in_words(tmp_path: Path, make: object, words: str) -> None:
    file = tmp_path / "x"
    make(file)  # type: ignore[operator]
    with pytest.raises(Failure) as caught:
        read_text(str(file))
    assert words in str(caught.value)
    assert str(file) in str(caught.value)
    assert caught.value.code == 2


def test_a_name_with_a_zero_byte_is_said_in_words() -> None:
    with pytest.raises(Failure, match="cannot be read"):
        read_text("a\0b")
