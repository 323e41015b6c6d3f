"""The filter as a process with real (tiny) models: provisioned, probed, used; one that is not there is said."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.driving import WRONG, chat_request, chat_response
from support.ext_proc import connect, request_body, request_headers, response_body, response_headers
from support.process import running_filter
from support.tiny_models import novelty_detector, word_gate

pytestmark = pytest.mark.asyncio(loop_scope="session")  # grpc.aio's poller does not outlive a closed loop well
POST = [(":method", "POST"), (":path", "/v1/chat/completions")]
OK_JSON = [(":status", "200"), ("content-type", "application/json")]


def with_models(folder: Path) -> dict[str, Any]:
    """Detector and gate are there, the explainer is not."""
    models = {
        "detector": {"model_id": str(novelty_detector(folder / "detector"))},
        "fact_check": {"model_id": str(word_gate(folder / "gate", "how")), "threshold": 0.005},
        "explainer": {"model_id": str(folder / "nowhere")},
    }
    plugin = {"type": "hallucination", "configuration": {"enabled": True}}
    return {
        "routing": {
            "signals": {"hallucination": [{"name": "grounded", "use_nli": True}]},
            "decisions": [{"name": "all", "plugins": [plugin]}],
        },
        "global": {"model_catalog": {"modules": {"hallucination_mitigation": models}}},
        "filter": {"server": {"drain_wait": 0}, "log_level": "debug"},
    }


@pytest.mark.timeout(300)  # importing torch can take long on a busy machine
async def test_models_are_loaded_used_and_missing_ones_said(tmp_path: Path) -> None:
    async with running_filter(tmp_path, with_models(tmp_path)) as running:
        await running.until(lambda: "serving" in running.events(), 200)
        answer = await running.get("/ready")
        assert answer is not None and answer.status_code == 503
        (missing,) = answer.json()["missing"]
        assert missing.startswith("explainer of recipe default: ") and "nowhere" in missing

        async with connect(running.grpc) as client:
            stream = client.open()
            for message in (request_headers(POST), request_body(chat_request()), response_headers(OK_JSON)):
                assert await stream.ask(message) is not None
            reply = await stream.ask(response_body(chat_response(WRONG)), timeout=20)
            assert reply is not None
            fields = reply.response_body.response.header_mutation.set_headers
            headers = {f.header.key.decode(): f.header.raw_value.decode() for f in fields}
            assert headers["x-vsr-response-warnings"] == "hallucination"
            await stream.finish()

        replay_id = headers["x-vsr-replay-id"]
        answer = await running.get(f"/v1/router_replay/{replay_id}?showDetails=true")
        assert answer is not None and answer.status_code == 200
        assert "explainer_failed" in answer.text and '"detected"' in answer.text
        metrics = await running.get("/metrics")
        assert metrics is not None
        assert 'llm_signal_match_total{signal_name="grounded",signal_type="hallucination"} 1.0' in metrics.text
        assert 'vsr_model' in metrics.text
    text = (tmp_path / "filter.log").read_text()
    assert "479" not in text and "crates" not in text, "not even debug logs hold prompt or answer"
    assert all(json.loads(line)["event"] for line in text.splitlines())
