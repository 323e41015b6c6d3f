"""The least an ext_proc server can do on ``grpc.aio``: an empty reply to each message. A process of its own.

``none`` asks for no bodies, as the filter does for a recipe without rules; ``buffered`` takes all four messages.
Event streams are asked for in STREAMED mode, as the filter does, and each chunk gets an empty reply.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator

import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health

from vsr_hallucination.bench.lag import LagMeter
from vsr_hallucination.wire import ext_proc_pb2 as pb

_SERVICE = "envoy.service.ext_proc.v3.ExternalProcessor"
_Mode = pb.ProcessingMode


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("lag_port", type=int)
    parser.add_argument("mode", choices=("none", "buffered"))
    args = parser.parse_args()
    asyncio.run(_serve(args.port, args.lag_port, args.mode))


async def _serve(port: int, lag_port: int, mode: str) -> None:
    server = grpc.aio.server()
    healthy = health.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    await healthy.set("", health_pb2.HealthCheckResponse.SERVING)
    method = grpc.stream_stream_rpc_method_handler(
        _handler(mode),
        request_deserializer=pb.ProcessingRequest.FromString,
        response_serializer=pb.ProcessingResponse.SerializeToString,
    )
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, {"Process": method}),))
    server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    await LagMeter().run(lag_port)


def _handler(mode: str):  # type: ignore[no-untyped-def]
    replies = {
        "request_headers": pb.ProcessingResponse(
            request_headers=pb.HeadersResponse(),
            mode_override=_override(_Mode.NONE) if mode == "none" else None,
        ),
        "request_body": pb.ProcessingResponse(request_body=pb.BodyResponse()),
        "response_headers": pb.ProcessingResponse(response_headers=pb.HeadersResponse()),
        "response_body": pb.ProcessingResponse(response_body=pb.BodyResponse()),
        "request_trailers": pb.ProcessingResponse(request_trailers=pb.TrailersResponse()),
        "response_trailers": pb.ProcessingResponse(response_trailers=pb.TrailersResponse()),
    }
    streamed = pb.ProcessingResponse(
        response_headers=pb.HeadersResponse(), mode_override=_override(_Mode.STREAMED)
    )

    async def process(
        requests: AsyncIterator[pb.ProcessingRequest], _: object
    ) -> AsyncIterator[pb.ProcessingResponse]:
        async for request in requests:
            kind = request.WhichOneof("request")
            if kind == "response_headers" and mode == "buffered" and _is_stream(request.response_headers):
                yield streamed
            elif kind is not None:
                yield replies[kind]

    return process


def _is_stream(headers: pb.HttpHeaders) -> bool:
    return any(
        header.key == b"content-type" and (header.raw_value or header.value).startswith(b"text/event-stream")
        for header in headers.headers.headers
    )


def _override(body: pb.ProcessingMode.BodySendMode) -> pb.ProcessingMode:
    return pb.ProcessingMode(
        response_header_mode=_Mode.SEND,
        response_trailer_mode=_Mode.SEND,
        request_body_mode=_Mode.NONE,
        response_body_mode=body,
    )


if __name__ == "__main__":
    main()
