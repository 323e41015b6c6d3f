"""The benchmark's upstream, a process of its own: does what the request's ``x-bench`` header says.

``json DELAY-MS ANSWER`` or ``sse CHUNKS GAP-MS ANSWER``, where ANSWER is a name in ``bench.calls``.
"""

from __future__ import annotations

import argparse
import asyncio
import json

from vsr_hallucination.bench.calls import answer_texts


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    asyncio.run(_serve(parser.parse_args().port))


async def _serve(port: int) -> None:
    server = await asyncio.start_server(_connection, "127.0.0.1", port, limit=1 << 22)
    await server.serve_forever()


async def _connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    answers = answer_texts()
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
            if "content-length" in fields:
                await reader.readexactly(int(fields["content-length"]))
            kind, *numbers, answer = fields["x-bench"].split()
            if kind == "json":
                await _json(writer, float(numbers[0]) / 1000, answers[answer])
            else:
                await _events(writer, int(numbers[0]), float(numbers[1]) / 1000, answers[answer])
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def _json(writer: asyncio.StreamWriter, delay: float, text: str) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    body = json.dumps({"id": "b", "object": "chat.completion", "model": "m", "choices": [choice]}).encode()
    if delay:
        await asyncio.sleep(delay)
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)


async def _events(writer: asyncio.StreamWriter, chunks: int, gap: float, text: str) -> None:
    """Chunks on a fixed schedule: a late one does not make the next one late."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    loop = asyncio.get_running_loop()
    begin = loop.time()
    size = -(-len(text) // chunks)
    for number in range(chunks):
        await asyncio.sleep(max(0.0, begin + number * gap - loop.time()))
        delta = {"content": text[number * size : (number + 1) * size]}
        choice = {"index": 0, "delta": delta, "finish_reason": "stop" if number == chunks - 1 else None}
        event = f"data: {json.dumps({'id': 'b', 'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"
        if number == chunks - 1:
            event += "data: [DONE]\n\n"
        data = event.encode()
        writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    writer.write(b"0\r\n\r\n")


if __name__ == "__main__":
    main()
