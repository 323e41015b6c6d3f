"""Recognising "I don't know": one function for every part that needs it (grading, judging, metrics, the demo).

A reply abstains if, folded, it is one of the known phrases; if its first sentence is one and nothing after it
ventures an answer ("I don't know. Maybe 42." is an answer); or if its last line is one. An empty reply is not an
abstention: nothing came, and that is the provider's matter (``unavailable``).
"""

from __future__ import annotations

import re
import unicodedata

_APOSTROPHES = dict.fromkeys(map(ord, "'’‘ʼ´`′＇"), None)
_MARKS = re.compile(r"[\"“”„«»‹›「」『』*_#>~|\[\](){}<$\\]")
_EDGES = " \t\r\n.,;:!?…。，、；：！？·-–—"
_SPACE = re.compile(r"\s+")
_LEAD = re.compile(
    r"(?:(?:sorry|unfortunately|honestly|well|hmm|ok|okay|抱歉|很抱歉|对不起)\s*[,:，：.。!！]?\s*)*"
    r"(?:(?:the |my )?(?:final )?(?:answer|response)\s*(?:is\s*:?|[:：])\s*"
    r"|(?:最终)?(?:答案|回答)\s*[是为]?\s*[:：]?\s*)?"
)
_PHRASES = frozenset(
    """
    idk|i dont know|i do not know|dont know|do not know|dunno|i dunno|i dont know the answer|i do not know the answer
    i dont know that|i dont know this|i do not know that|i dont know for sure|i do not know for sure
    i really dont know|i honestly dont know|i dont actually know|unknown|it is unknown|its unknown|the answer is unknown
    cannot answer|can not answer|cant answer|i cannot answer|i can not answer|i cant answer
    i cannot answer that|i cant answer that|i cannot answer this|i cant answer this|i cannot answer this question
    i cant answer this question|i cannot answer that question|i cannot answer the question|i cant answer the question
    unable to answer|i am unable to answer|im unable to answer|i am unable to answer this question
    not sure|im not sure|i am not sure|unsure|im unsure|i am unsure|im not certain|i am not certain|not certain
    i am not confident|im not confident|not confident|i am not confident enough|im not confident enough
    not confident enough|i am not sure about that|im not sure about that|no idea|i have no idea|ive no idea
    cannot say|i cannot say|cant say|i cant say|cannot be determined|it cannot be determined|cannot determine
    i cannot determine|i cant determine|not enough information|insufficient information
    there is not enough information|i do not have enough information|i dont have enough information
    不知道|我不知道|我也不知道|不知|不知道答案|我不知道答案|我不知道这个问题的答案|我真的不知道|无法回答|我无法回答|无法回答这个问题|我无法回答这个问题
    无法回答该问题|无法作答|我无法作答|不能回答|我不能回答|不确定|我不确定|我不太确定|不太确定|无法确定|我无法确定|不清楚|我不清楚
    我不太清楚|不太清楚|未知|没有把握|我没有把握|信息不足|不知道呢|不晓得|我不晓得
    無法回答|我無法回答|無法作答|不確定|我不確定|無法確定|我無法確定|我不太確定
    """.replace("\n", "|")
    .replace("    ", "")
    .split("|")
) - {""}
_VENTURES = re.compile(
    r"\b(?:but|maybe|perhaps|probably|possibly|likely|guess|however|would say|might be|could be|answer is|it is|its)\b"
    r"|[但可也][是能许]|也许|大概|猜|应该是|答案[是为：:]"
)
# "I don't know who built it", "I cannot answer this without the year", "我不知道是谁": a phrase and what it is about.
_OPENING = re.compile(
    r"(?:i|we) (?:really |honestly |actually |simply )?(?:dont|do not) (?:really |actually )?"
    r"(?:know|have (?:enough|sufficient|any) (?:information|knowledge|confidence|data))\b"
    r"|(?:i|we) (?:cannot|cant|can not|am unable to|are unable to|am not able to|are not able to) "
    r"(?:answer|determine|tell|say|be (?:sure|certain|confident)|know|verify|confirm)\b"
    r"|(?:im|i am|we are) (?:unable to|not able to) (?:answer|determine|tell|say|know|verify|confirm)\b"
    r"|(?:im|i am) (?:not (?:sure|certain|confident|aware)|unsure|uncertain)\b|i have no idea\b"
    r"|我(?:也|真的|不太)?(?:不知道|无法回答|無法回答|不确定|不確定|不清楚|无法确定|無法確定)"
)
_HEDGE = re.compile(
    r"\b(?:but|maybe|perhaps|probably|possibly|likely|guess|however|though|would say|might be|could be|think)\b"
    r"|[但可也][是能许]|也许|大概|猜|应该是"
)
_SENTENCE = re.compile(r"(?<=[.!?。！？…])\s*|\n+|\s+[-–—]+\s+|[;；]\s*")
_LONGEST = 64_000  # characters looked at: replies are capped far below


def folded(text: str) -> str:
    """``text`` for comparison: NFKC, case folded, apostrophes, quotes, markup and invisible characters gone, runs of
    white space one space, punctuation at both ends gone."""
    text = unicodedata.normalize("NFKC", text[:_LONGEST])
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    text = _MARKS.sub("", text.casefold().translate(_APOSTROPHES))
    return _SPACE.sub(" ", text).strip(_EDGES)


def is_abstention(reply: str, gold: str = "") -> bool:
    """Whether ``reply`` declines to answer. ``gold``: where the right answer is itself such a phrase ("unknown"),
    giving it is an answer."""
    whole = folded(reply)
    if not whole:
        return False
    if gold and _bare(whole) == _bare(folded(gold)):
        return False
    if _is_phrase(whole):
        return True
    pieces = [piece for piece in _SENTENCE.split(reply[:_LONGEST].strip()) if folded(piece)]
    if len(pieces) > 1 and _is_phrase(folded(pieces[0])):
        return not _VENTURES.search(folded(" ".join(pieces[1:])))
    lines = [line for line in reply[:_LONGEST].splitlines() if folded(line)]
    return len(lines) > 1 and _is_phrase(folded(lines[-1]))


def _is_phrase(text: str) -> bool:
    bare = _bare(text)
    if text in _PHRASES or bare in _PHRASES:
        return True
    return _OPENING.match(bare) is not None and not _HEDGE.search(bare)


def _bare(text: str) -> str:
    """Without what leads in ("answer:", "sorry,")."""
    lead = _LEAD.match(text)
    return text[lead.end() :].strip(_EDGES) if lead and lead.end() < len(text) else text
