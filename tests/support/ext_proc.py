"""Envoy's side of an ext_proc stream, by hand: sends messages, reads replies, against the gRPC port."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import grpc.aio

from vsr_hallucination.wire import ext_proc_pb2 as pb

PROCESS = "/envoy.service.ext_proc.v3.ExternalProcessor/Process"
LARGEST = 80 << 20


def header_map(items: Iterable[tuple[str, str]]) -> pb.HeaderMap:
    return pb.HeaderMap(headers=[pb.HeaderValue(key=n.encode(), raw_value=v.encode()) for n, v in items])


def request_headers(items: Iterable[tuple[str, str]] = (), end: bool = False) -> pb.ProcessingRequest:
    return pb.ProcessingRequest(request_headers=pb.HttpHeaders(headers=header_map(items), end_of_stream=end))


def response_headers(items: Iterable[tuple[str, str]] = (), end: bool = False) -> pb.ProcessingRequest:
    return pb.ProcessingRequest(response_headers=pb.HttpHeaders(headers=header_map(items), end_of_stream=end))


def request_body(body: bytes, end: bool = True) -> pb.ProcessingRequest:
    return pb.ProcessingRequest(request_body=pb.HttpBody(body=body, end_of_stream=end))


def response_body(body: bytes, end: bool = True) -> pb.ProcessingRequest:
    return pb.ProcessingRequest(response_body=pb.HttpBody(body=body, end_of_stream=end))


class Stream:
    """One ext_proc stream. ``ask`` sends a message and returns the next reply; None: the server ended the stream."""

    def __init__(self, call: grpc.aio.StreamStreamCall[bytes, bytes]) -> None:
        self.call = call

    async def send(self, message: pb.ProcessingRequest | bytes) -> None:
        data = message if isinstance(message, bytes) else message.SerializeToString()
        await self.call.write(data)

    async def read(self, timeout: float = 20.0) -> pb.ProcessingResponse | None:
        data = await asyncio.wait_for(self.call.read(), timeout)
        return pb.ProcessingResponse.FromString(data) if isinstance(data, bytes) else None

    async def ask(self, message: pb.ProcessingRequest | bytes, timeout: float = 20.0) -> pb.ProcessingResponse | None:
        await self.send(message)
        return await self.read(timeout)

    async def finish(self, timeout: float = 20.0) -> grpc.StatusCode:
        """Half-closes as Envoy does at the end, and returns how the server ended the stream."""
        await self.call.done_writing()
        return await asyncio.wait_for(self.call.code(), timeout)


class Client:
    """A connection to the filter's gRPC port."""

    def __init__(self, address: str, credentials: grpc.ChannelCredentials | None = None) -> None:
        options = [
            ("grpc.max_receive_message_length", LARGEST),
            ("grpc.max_send_message_length", LARGEST),
            ("grpc.ssl_target_name_override", "localhost"),
        ]
        if credentials is None:
            self.channel = grpc.aio.insecure_channel(address, options=options)
        else:
            self.channel = grpc.aio.secure_channel(address, credentials, options=options)
        self._process = self.channel.stream_stream(PROCESS)

    def open(self, metadata: Iterable[tuple[str, str]] = ()) -> Stream:
        return Stream(self._process(metadata=tuple(metadata)))


@asynccontextmanager
async def connect(address: str, credentials: grpc.ChannelCredentials | None = None) -> AsyncIterator[Client]:
    client = Client(address, credentials)
    try:
        yield client
    finally:
        await client.channel.close()
