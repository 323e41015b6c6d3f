"""A client that leaves while the reply to its request body is being sent: the record still says what was asked."""

from __future__ import annotations

from support.driving import chat_request, policy
from vsr_hallucination.exchange import Exchange
from vsr_hallucination.orders import Save
from vsr_hallucination.wire.messages import HeaderMap, RequestBody, RequestHeaders


def test_an_exchange_closed_before_it_was_resumed_records_its_request() -> None:
    exchange = Exchange(policy(), id="x1")
    pairs = [(":method", "POST"), (":path", "/v1/chat/completions"), ("content-type", "application/json")]
    exchange.receive(RequestHeaders(HeaderMap(pairs)), 1.0)
    exchange.receive(RequestBody(chat_request()), 2.0)  # its reply is never sent: no ``resumed``
    (record,) = [order.record for order in exchange.closed(3.0) if isinstance(order, Save)][-1:]
    assert (record.api, record.model) == ("openai_chat", "m")
    assert record.evidence
