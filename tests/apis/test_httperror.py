"""HTTP errors in a tool's text are no evidence; anything else in the text makes it a finding."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsr_hallucination.apis.evidence import EvidenceBuilder
from vsr_hallucination.apis.httperror import only_http_error

PAGE = (
    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n"
    "<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
)
ERRORS = [
    "404 Not Found",
    "HTTP 500",
    "HTTP/1.1 503 Service Unavailable",
    "Error: 429 Too Many Requests",
    "HTTP error 403: Forbidden.",
    "Request failed with status code 502",
    "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://example.org/depots/K7?month=5",
    "httpx.HTTPStatusError: Server error '500 Internal Server Error' for url 'https://example.org/a'",
    "urllib.error.HTTPError: HTTP Error 401: Unauthorized",
    "the upstream server returned 504 Gateway Time-out",
    "status: 422 Unprocessable Entity",
    PAGE,
]
FINDINGS = [
    "404",
    "412",
    "status: 412",
    "412 crates",
    "500 Server racks",
    "500 lamps were delivered, 404 were not found.",
    "The request failed: depot K7 is closed.",
    "HTTP 500 means Internal Server Error.",
    "404 Not Found: depot K7 does not exist",
    "Error code 412 on machine 7",
    "HTTP error 700",
    "status 404 and 500",
    "Not Found",
    "",
]


def passages(text, trust="tool"):
    evidence = EvidenceBuilder()
    evidence.text(text, ("messages", 2, "content"), role="tool", source_id=None, trust=trust)
    return evidence.grounding()


@pytest.mark.parametrize("text", ERRORS)
def test_an_http_error_is_no_evidence(text):
    found = passages(text)
    assert not found.passages and [one.kind for one in found.unread] == ["error"]
    assert passages(text, trust="document").passages, "a document may be about errors"


@pytest.mark.parametrize("text", FINDINGS)
def test_a_finding_stays_evidence(text):
    assert not only_http_error(text)


JSON_ERRORS = [
    {"status": 404, "message": "no such depot"},
    {"statusCode": 500, "message": "Internal server error"},
    {"type": "about:blank", "title": "Not Found", "status": 404, "detail": "no such depot", "instance": "/depots/K7"},
    {"code": "503", "detail": "queue full"},
]
JSON_FINDINGS = [
    {"status": 412},
    {"status": "shipped", "message": "412 crates"},
    {"status": 404, "message": "x", "crates": 412},
    {"code": 200, "message": "412 crates"},
    {"code": 412.5, "message": "K7"},
]


def test_an_http_error_told_in_json_is_no_evidence():
    for value in JSON_ERRORS:
        found = passages(json.dumps(value))
        assert not found.passages and [one.kind for one in found.unread] == ["error"], value
    for value in JSON_FINDINGS:
        assert passages(json.dumps(value)).passages, value


@given(st.text(max_size=300) | st.text("45 0123HTTP/.errorNtFund:<>\n", max_size=60))
def test_any_text_is_judged(text):
    assert only_http_error(text) in (True, False)


def test_hostile_text_takes_no_time():
    begun = time.process_time()
    for piece in ("<", "<!--", "a.", "404 ", "http://", "not found "):
        only_http_error(piece * (4000 // len(piece)) + " 404")
    assert time.process_time() - begun < 2.0
