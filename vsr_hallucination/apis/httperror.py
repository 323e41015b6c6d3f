"""Tool results that say nothing but that an HTTP request failed: no evidence, whatever the claim.

Only what is wholly such a message counts, as HTTP libraries, proxies and agents word it. A number between 400 and 599
is a status only beside its own reason phrase (RFC 9110, 15) or the words HTTP, error or status code; so ``412 crates``
and ``404`` alone stay evidence, and so does a failure told in a sentence with anything else in it.
"""

from __future__ import annotations

import re
from http import HTTPStatus

_LONGEST = 4096  # error pages of proxies are short; a long text has something to say
_PHRASES = {status.value: status.phrase for status in HTTPStatus if status.value >= 400}
_OLDER = {  # what the phrases were called before RFC 9110
    413: ("Request Entity Too Large", "Payload Too Large"),
    414: ("Request-URI Too Long", "URI Too Long"),
    416: ("Requested Range Not Satisfiable", "Range Not Satisfiable"),
    418: ("I'm a teapot",),
    422: ("Unprocessable Entity", "Unprocessable Content"),
    500: ("Server Error",),
    503: ("Service Temporarily Unavailable",),
    504: ("Gateway Time-out", "Gateway Timeout"),
}
_TAG = re.compile(r"<!--.*?-->|<[^<>]*>", re.DOTALL)
_WORDS = re.compile(r"[\W_]+")
_STATUS = re.compile(r"\b([45][0-9]{2})\b")
_URL = re.compile(r"(?:for url:?\s*)?(?:https?://|/)[^\s<>\"']*", re.IGNORECASE)
_CLASS = re.compile(r"\b(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception)\b")  # requests.exceptions.HTTPError
# Words that such a message is made of beside status and phrase. None says anything about the world.
_FILLER = frozenset(
    "a an the of for with to from by on in at is was has and http https 1 0 2 3 error errors exception status code "
    "request requests response responded responding returned returns received got get post put delete call tool failed "
    "failure failing client server upstream api url nginx apache envoy cloudflare openresty".split()
)
_NAMED = frozenset(("http", "https", "error"))  # with one of these a status needs no phrase


def only_http_error(text: str) -> bool:
    """Whether ``text`` is an HTTP error's message or page and nothing else."""
    if len(text) > _LONGEST or _STATUS.search(text) is None:
        return False
    bare = _URL.sub(" ", _TAG.sub(" ", text) if "<" in text else text)
    named = _CLASS.search(bare) is not None
    words = [word for word in _WORDS.split(_CLASS.sub(" ", bare).casefold()) if word]
    statuses = {int(word) for word in words if _STATUS.fullmatch(word)}
    if len(statuses) != 1:
        return False
    (status,) = statuses
    rest = f" {' '.join(word for word in words if word != str(status))} "
    phrases = (_PHRASES.get(status, ""), *_OLDER.get(status, ()))
    told = False
    for phrase in phrases:
        plain = f" {' '.join(word for word in _WORDS.split(phrase.casefold()) if word)} "
        while plain.strip() and plain in rest:
            told, rest = True, rest.replace(plain, " ", 1)
    left = rest.split()
    named = named or not _NAMED.isdisjoint(left) or "status code" in rest
    return (told or (named and status in _PHRASES)) and _FILLER.issuperset(left)
