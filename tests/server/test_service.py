"""The service over a real gRPC connection, driving exchanges that do what each test tells them."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import grpc
import pytest

from support.ext_proc import Client, connect, request_body, request_headers, response_body, response_headers
from support.scripted import IDENTITY, Collected, ModelOf, RuntimeOf, ScriptedExchange
from vsr_hallucination.config.schema import Config, DetectionSettings, FilterSettings, Limits, ServerSettings
from vsr_hallucination.detection.types import CheckRequest, CheckResult, GateResult, Grounding, Reason
from vsr_hallucination.orders import Check, Classify, Note, Order, Save, Send
from vsr_hallucination.replay.record import Record
from vsr_hallucination.server.grpc_server import GrpcServer
from vsr_hallucination.server.runtime import RuntimeSlot
from vsr_hallucination.server.service import Service
from vsr_hallucination.server.stream import LARGE
from vsr_hallucination.wire.messages import Continue, Immediate, Mutation, Phase, ResponseBody

pytestmark = pytest.mark.asyncio(loop_scope="session")  # grpc.aio's poller does not outlive a closed loop well
CONFIG = Config(filter=FilterSettings(detection=DetectionSettings(deadline=0.2)))
HEADERS = Send(Continue(Phase.REQUEST_HEADERS))
GATED = GateResult(True, 0.9)
CLEAN = CheckResult(IDENTITY)


def request(deadline: float = 0.2) -> CheckRequest:
    return CheckRequest("q", Grounding(), "a", deadline=deadline)


def record(name: str = "r") -> Record:
    return Record(name, 1.0, "default")


@dataclass
class Rig:
    client: Client
    service: Service
    server: GrpcServer
    out: Collected
    slot: RuntimeSlot
    exchanges: list[ScriptedExchange]


@asynccontextmanager
async def rig(
    make: Callable[[], ScriptedExchange], *, gate: ModelOf | None = None, checker: ModelOf | None = None,
    config: Config = CONFIG, background: int = 4,
) -> AsyncIterator[Rig]:  # fmt: skip
    out, slot = Collected(), RuntimeSlot(RuntimeOf(config, gate, checker))
    exchanges: list[ScriptedExchange] = []

    def new(config: Config, *, id: str, metadata: Any) -> ScriptedExchange:
        exchange = make()
        exchange.config, exchange.id, exchange.metadata = config, id, dict(metadata)
        exchanges.append(exchange)
        return exchange

    service = Service(slot, new, out, out.note, background=background)
    settings = ServerSettings(listen=("127.0.0.1:0",), drain_wait=0.0, drain_timeout=1.0)
    server = GrpcServer(settings, config.filter.limits, service)
    (address,) = await server.start()
    try:
        async with connect(address) as client:
            yield Rig(client, service, server, out, slot, exchanges)
    finally:
        await server.stop()


async def until(condition: Callable[[], bool], seconds: float = 3.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "did not happen in time"
        await asyncio.sleep(0.005)


def on(orders: dict[type, Sequence[Order]]) -> Callable[[Any], Sequence[Order]]:
    return lambda message: orders.get(type(message), ())


async def test_messages_go_in_and_replies_come_out_in_order() -> None:
    def reply(message: Any) -> list[Order]:
        phase = Phase.REQUEST_HEADERS if not isinstance(message, ResponseBody) else Phase.RESPONSE_BODY
        return [Send(Continue(phase, Mutation(set=(("x-vsr-a", "b"),))))]

    async with rig(lambda: ScriptedExchange(on_receive=reply)) as r:
        stream = r.client.open([("x-vsr-recipe", "lax")])
        answer = await stream.ask(request_headers([("a", "b")]))
        assert answer is not None and answer.WhichOneof("response") == "request_headers"
        for n in range(50):
            await stream.send(response_body(str(n).encode(), end=False))
        for _ in range(50):
            answer = await stream.read()
            assert answer is not None and answer.WhichOneof("response") == "response_body"
        assert await stream.finish() is grpc.StatusCode.OK
        (exchange,) = r.exchanges
        await until(lambda: exchange.doors()[-1] == "closed")
        assert exchange.doors() == ["receive"] * 51 + ["closed"]
        assert [m.body for d, m in exchange.seen[1:51]] == [str(n).encode() for n in range(50)]
        assert exchange.metadata["x-vsr-recipe"] == "lax" and exchange.config is CONFIG
        assert r.service.open_exchanges == 0


async def test_save_and_note_are_carried_out() -> None:
    orders = (Note("n", {"a": 1}), Save(record()), HEADERS)
    async with rig(lambda: ScriptedExchange(on_receive=lambda m: orders)) as r:
        await r.client.open().ask(request_headers())
        assert r.out.records == [record()] and r.out.events() == ["n"]


async def test_classification_runs_beside_the_stream_and_is_fed_back() -> None:
    started, release = asyncio.Event(), asyncio.Event()

    async def slow(prompt: str) -> GateResult:
        started.set()
        await release.wait()
        return GATED

    def make() -> ScriptedExchange:
        return ScriptedExchange(
            on_receive=lambda m: (Classify("default", "p"), HEADERS),
            on_gated=lambda g: (Send(Continue(Phase.RESPONSE_BODY)),),
        )

    async with rig(make, gate=ModelOf(classify=slow)) as r:
        stream = r.client.open()
        assert await stream.ask(request_headers()) is not None  # answered while the gate works
        await started.wait()
        release.set()
        answer = await stream.read()
        assert answer is not None and answer.WhichOneof("response") == "response_body"
        assert r.exchanges[0].fed("gated") == GATED


async def test_missing_models_are_not_provisioned() -> None:
    def make() -> ScriptedExchange:
        return ScriptedExchange(
            on_receive=lambda m: (Classify("default", "p"), Check("default", (request(), request()), held=True)),
        )

    async with rig(make) as r:
        stream = r.client.open()
        await stream.send(request_headers())
        await until(lambda: len(r.exchanges) == 1 and len(r.exchanges[0].seen) == 3)
        gate, results = r.exchanges[0].fed("gated"), r.exchanges[0].fed("checked")
        assert gate.failure.reason is Reason.NOT_PROVISIONED
        assert [x.failure.reason for x in results] == [Reason.NOT_PROVISIONED] * 2
        assert results[0].detector.name == "embedded"


async def raises(_: Any) -> Any:
    raise ValueError("a secret prompt")


async def stubborn(_: Any) -> Any:
    try:
        await asyncio.sleep(3)
    except asyncio.CancelledError:
        await asyncio.sleep(0.6)  # a model that takes its time to give up


async def nonsense(_: Any) -> Any:
    return "clean"


async def cancels(_: Any) -> Any:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (raises, Reason.DETECTOR_FAILED), (stubborn, Reason.TIMEOUT), (nonsense, Reason.DETECTOR_FAILED),
        (cancels, Reason.DETECTOR_FAILED),
    ],
)  # fmt: skip
async def test_whatever_a_detector_does_a_result_comes_back(behaviour: Any, reason: Reason) -> None:
    def make() -> ScriptedExchange:
        return ScriptedExchange(
            on_receive=lambda m: (Check("default", (request(), request()), held=True),),
            on_checked=lambda r: (Send(Continue(Phase.RESPONSE_BODY)),),
        )

    async with rig(make, checker=ModelOf(check=behaviour)) as r:
        begun = time.monotonic()
        assert await r.client.open().ask(response_body(b"{}")) is not None
        assert time.monotonic() - begun < 1.5
        results = r.exchanges[0].fed("checked")
        assert [x.failure.reason for x in results] == [reason] * 2
        assert results[0].detector == IDENTITY and "secret" not in str(results)


@pytest.mark.parametrize("behaviour", [raises, stubborn, nonsense])
async def test_whatever_a_gate_does_a_result_comes_back(behaviour: Any) -> None:
    def make() -> ScriptedExchange:
        return ScriptedExchange(
            on_receive=lambda m: (Classify("default", "p"),),
            on_gated=lambda r: (Send(Continue(Phase.REQUEST_BODY)),),
        )

    async with rig(make, gate=ModelOf(classify=behaviour)) as r:
        assert await r.client.open().ask(request_body(b"{}")) is not None
        assert r.exchanges[0].fed("gated").failure is not None


async def test_a_held_check_blocks_only_its_own_stream() -> None:
    release = asyncio.Event()

    async def wait(_: Any) -> CheckResult:
        await release.wait()
        return CLEAN

    def step(message: Any) -> Sequence[Order]:
        return (Check("default", (request(5.0),), held=True),) if isinstance(message, ResponseBody) else (HEADERS,)

    def make() -> ScriptedExchange:
        return ScriptedExchange(on_receive=step, on_checked=lambda r: (Send(Continue(Phase.RESPONSE_BODY)),))

    async with rig(make, checker=ModelOf(check=wait)) as r:
        first, second = r.client.open(), r.client.open()
        await first.send(response_body(b"{}"))
        assert await second.ask(request_headers()) is not None
        release.set()
        assert await first.read() is not None


async def test_a_held_check_ends_with_its_client() -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    async def wait(_: Any) -> CheckResult:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            stopped.set()
        return CLEAN

    def make() -> ScriptedExchange:
        return ScriptedExchange(
            on_receive=lambda m: (Check("default", (request(60.0),), held=True),),
            on_closed=lambda: (Save(record("aborted")),),
        )

    async with rig(make, checker=ModelOf(check=wait)) as r:
        stream = r.client.open()
        await stream.send(response_body(b"{}"))
        await started.wait()
        stream.call.cancel()
        await asyncio.wait_for(stopped.wait(), 3)
        await until(lambda: r.out.records == [record("aborted")])
        assert r.exchanges[0].doors() == ["receive", "closed"]


async def test_a_stream_check_outlives_the_rpc() -> None:
    release = asyncio.Event()

    async def wait(_: Any) -> CheckResult:
        await release.wait()
        return CLEAN

    def make() -> ScriptedExchange:
        return ScriptedExchange(
            on_receive=lambda m: (Check("default", (request(5.0),), held=False), Send(Continue(Phase.RESPONSE_BODY))),
            on_checked=lambda r: (Save(record("late")),),
        )

    async with rig(make, checker=ModelOf(check=wait)) as r:
        stream = r.client.open()
        assert await stream.ask(response_body(b"data: [DONE]\n\n", end=False)) is not None
        assert await stream.finish() is grpc.StatusCode.OK
        await until(lambda: r.exchanges[0].doors()[-1] == "closed")
        old = r.slot.current
        r.slot.swap(RuntimeOf(CONFIG))  # a reload meanwhile: the check keeps the runtime it began with
        await asyncio.sleep(0.02)
        assert isinstance(old, RuntimeOf) and not old.closed
        release.set()
        await until(lambda: r.out.records == [record("late")])
        await until(lambda: old.closed)
        assert r.service.unheld == 0


async def test_stream_checks_are_bounded() -> None:
    async def wait(_: Any) -> CheckResult:
        await asyncio.sleep(0.1)
        return CLEAN

    def make() -> ScriptedExchange:
        return ScriptedExchange(on_receive=lambda m: (Check("default", (request(5.0),), held=False), HEADERS))

    async with rig(make, checker=ModelOf(check=wait), background=1) as r:
        for _ in range(2):
            await r.client.open().ask(request_headers())
        await until(lambda: all(x.doors()[-1] == "checked" for x in r.exchanges))
        first, second = (x.fed("checked")[0] for x in r.exchanges)
        assert first == CLEAN and second.failure.reason is Reason.OVERLOADED


async def test_drain_waits_for_stream_checks() -> None:
    async def wait(_: Any) -> CheckResult:
        await asyncio.sleep(0.2)
        return CLEAN

    def make() -> ScriptedExchange:
        return ScriptedExchange(
            on_receive=lambda m: (Check("default", (request(5.0),), held=False), HEADERS),
            on_checked=lambda r: (Save(record("late")),),
        )

    async with rig(make, checker=ModelOf(check=wait)) as r:
        stream = r.client.open()
        await stream.ask(request_headers())
        await stream.finish()
        await r.server.drain()
        assert r.out.records == [record("late")] and r.exchanges[0].fed("checked") == (CLEAN,)


async def test_what_drain_cannot_wait_for_is_recorded_as_not_checked() -> None:
    async def wait(_: Any) -> CheckResult:
        await asyncio.sleep(60)
        return CLEAN

    def make() -> ScriptedExchange:
        return ScriptedExchange(
            on_receive=lambda m: (Check("default", (request(60.0),), held=False), HEADERS),
            on_checked=lambda r: (Save(record("late")),),
        )

    async with rig(make, checker=ModelOf(check=wait)) as r:
        stream = r.client.open()
        await stream.ask(request_headers())
        await stream.finish()
        await r.service.drain(0.05)
        assert r.exchanges[0].fed("checked")[0].failure.reason is Reason.TIMEOUT
        assert r.out.records == [record("late")]


def boom(_: Any) -> Sequence[Order]:
    raise KeyError("prompt text")


@pytest.mark.parametrize("door", ["receive", "gated", "checked", "closed"])
async def test_an_exchange_that_raises_fails_open_and_the_next_one_works(door: str) -> None:
    async def instant(_: Any) -> Any:
        return GATED if door == "gated" else CLEAN

    def broken() -> ScriptedExchange:
        exchange = ScriptedExchange()
        if door == "receive":
            exchange.on_receive = boom
        elif door == "gated":
            exchange.on_receive, exchange.on_gated = lambda m: (Classify("default", "p"),), boom
        elif door == "checked":
            exchange.on_receive = lambda m: (Check("default", (request(),), held=True),)
            exchange.on_checked = boom
        else:
            exchange.on_receive, exchange.on_closed = lambda m: (HEADERS,), lambda: boom(None)
        return exchange

    def make() -> ScriptedExchange:
        return broken() if not r.exchanges else ScriptedExchange(on_receive=lambda m: (HEADERS,))

    model = ModelOf(classify=instant, check=instant)
    async with rig(make, gate=model, checker=model) as r:
        stream = r.client.open()
        answer = await stream.ask(request_headers())
        if door == "closed":
            assert answer is not None
            await stream.finish()
        else:
            assert answer is None  # ended without a reply
        assert await stream.call.code() is grpc.StatusCode.OK  # Envoy takes it as: pass unmodified
        await until(lambda: "exchange_failed" in r.out.events())
        assert r.exchanges[0].doors().count("closed") == 1
        note = r.out.notes[-1]
        assert note.fields["exchange"] == r.exchanges[0].id and "prompt" not in str(note.fields)
        assert await r.client.open().ask(request_headers()) is not None


async def test_an_exchange_that_cannot_be_made_fails_open() -> None:
    def make() -> ScriptedExchange:
        raise RuntimeError

    async with rig(make) as r:
        assert await r.client.open().call.code() is grpc.StatusCode.OK
        assert r.out.events() == ["exchange_failed"]


@pytest.mark.parametrize("data", [b"", b"\xff\xff\xff", b"\x0a\x02hi"], ids=["empty", "garbage", "unknown"])
async def test_c8_a_message_that_is_none_ends_the_stream_normally(data: bytes) -> None:
    async with rig(lambda: ScriptedExchange(on_receive=lambda m: (HEADERS,))) as r:
        stream = r.client.open()
        assert await stream.ask(data) is None
        assert await stream.call.code() is grpc.StatusCode.OK
        assert r.out.events() == ["message_unknown"]
        assert await r.client.open().ask(request_headers()) is not None


async def test_closed_comes_once_whatever_ends_the_rpc() -> None:
    async with rig(lambda: ScriptedExchange(on_receive=lambda m: (HEADERS,))) as r:
        for end in ("cancel", "finish", "silent"):
            stream = r.client.open()
            if end != "silent":
                await stream.ask(request_headers())
            else:
                await stream.send(request_headers())
            if end == "finish":
                await stream.finish()
            else:
                stream.call.cancel()
        await until(lambda: len(r.exchanges) >= 2 and all(x.doors()[-1:] == ["closed"] for x in r.exchanges))
        assert all(x.doors().count("closed") == 1 for x in r.exchanges)


async def test_c4_large_bodies_are_read_off_the_event_loop_and_echoed() -> None:
    def slow_echo(message: Any) -> Sequence[Order]:
        time.sleep(0.3)
        return (Send(Continue(Phase.RESPONSE_BODY, body=message.body)),)

    limits = Limits(check=2 << 20)
    config = replace(CONFIG, filter=replace(CONFIG.filter, limits=limits))
    async with rig(lambda: ScriptedExchange(on_receive=slow_echo), config=config) as r:
        stream, body = r.client.open(), b"x" * limits.edge
        await stream.send(response_body(body))
        await until(lambda: bool(r.exchanges and r.exchanges[0].seen))
        held, last = 0.0, time.monotonic()
        for _ in range(20):  # the loop goes on meanwhile
            await asyncio.sleep(0.005)
            held, last = max(held, time.monotonic() - last), time.monotonic()
        answer = await stream.read()
        assert answer is not None and answer.response_body.response.body_mutation.body == body
        assert held < 0.2


async def test_a_client_that_leaves_while_a_large_body_is_read_closes_the_exchange_after_it() -> None:
    order: list[str] = []

    def slow(message: Any) -> Sequence[Order]:
        time.sleep(0.3)
        order.append("read")
        return (Send(Continue(Phase.RESPONSE_BODY)), Save(record()))

    def closed() -> Sequence[Order]:
        order.append("closed")
        return ()

    async with rig(lambda: ScriptedExchange(on_receive=slow, on_closed=closed)) as r:
        stream = r.client.open()
        await stream.send(response_body(b"x" * (LARGE + 1)))
        await until(lambda: bool(r.exchanges and r.exchanges[0].seen))
        stream.call.cancel()
        await until(lambda: len(order) == 2)
        assert order == ["read", "closed"] and r.out.records == [record()]


async def test_block_replaces_the_response() -> None:
    def make() -> ScriptedExchange:
        return ScriptedExchange(on_receive=lambda m: (Send(Immediate(403, b"no")),))

    async with rig(make) as r:
        answer = await r.client.open().ask(response_headers())
        assert answer is not None and answer.immediate_response.status.code == 403


async def test_exchanges_that_end_while_others_run_are_closed_soon_and_none_is_lost() -> None:
    async with rig(lambda: ScriptedExchange(on_receive=lambda m: [HEADERS], on_closed=lambda: [Save(record())])) as r:
        streams = [r.client.open() for _ in range(5)]
        for stream in streams:
            assert await stream.ask(request_headers([("a", "b")])) is not None
        began = time.time()
        for stream in streams[:3]:
            assert await stream.finish() is grpc.StatusCode.OK
        ended = time.time()
        await until(lambda: len(r.out.records) == 3)
        closed = [value for exchange in r.exchanges for door, value in exchange.seen if door == "closed"]
        assert len(closed) == 3 and all(began <= at <= ended + 0.01 for at in closed)  # as of when they ended
        for stream in streams[3:]:
            assert await stream.finish() is grpc.StatusCode.OK
        await r.server.drain()
        assert len(r.out.records) == 5
