"""Model directories: the embedded int8 ones and stock ones, loaded from local files only.

A directory holds ``config.json``, the tokenizer's files, weights, and optionally ``vsr.json`` (our
metadata: encoding, calibrated numbers, scripts, languages). Weights are either ``model.safetensors`` (any
stock encoder) or ``model.int8.safetensors``: each matrix stored as int8 with one fp32 scale per output row
(symmetric, weight-only), vectors as fp32. They are widened to fp32 at load, into the stock transformers
class, so no kernel of ours runs. Nothing is fetched and no code from a directory is executed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from vsr_hallucination.detection.sentence_score import SentenceModel, number_in

if TYPE_CHECKING:
    from torch import Tensor, nn

Kind = Literal["detector", "fact_check", "explainer"]

INT8_WEIGHTS = "model.int8.safetensors"
STOCK_WEIGHTS = "model.safetensors"
METADATA = "vsr.json"
METADATA_FORMAT = 1
SCALE_SUFFIX = ".int8_scale"
# Vectors and tiny matrices (a classifier head of 2 rows) stay exact: they cost nothing and matter most.
SMALLEST_QUANTIZED = 16_384
_HASH_CHUNK = 1 << 20
_MOST_TOKENS = 1_000_000


class ModelDirectoryError(Exception):
    """A model directory is missing, incomplete or corrupt. Says where, what, and what to do."""

    def __init__(self, directory: Path, problem: str, remedy: str) -> None:
        super().__init__(f"{directory}: {problem}; {remedy}")
        self.directory = directory
        self.problem = problem
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class ModelMetadata:
    """What ``vsr.json`` says of a model.

    ``novelty_token_type``: token type of answer tokens whose word the evidence lacks; None = plain pair
    encoding. ``max_length``: tokens of a whole pair. ``max_answer``, ``max_question``: tokens of the answer
    piece and of the question within it. ``temperature`` divides logits before the softmax. ``thresholds``
    are the calibrated numbers by name. ``sentence``: how the detector's tokens are judged by sentence; None =
    each token for itself. Empty ``scripts`` / ``languages`` = unknown, not none.
    """

    kind: Kind
    novelty_token_type: int | None = None
    max_length: int | None = None
    max_answer: int | None = None
    max_question: int | None = None
    temperature: float = 1.0
    thresholds: tuple[tuple[str, float], ...] = ()
    scripts: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    labels: tuple[tuple[int, str], ...] = ()
    sentence: SentenceModel | None = None

    def threshold(self, name: str, default: float) -> float:
        """The calibrated number of that name, or ``default``."""
        return dict(self.thresholds).get(name, default)


def embedded_dir(kind: Kind) -> Path:
    """Directory of the model shipped in the package. Raises ModelDirectoryError if this build lacks it."""
    if kind not in get_args(Kind):
        raise ValueError(f"unknown model kind {kind!r}; kinds are {', '.join(get_args(Kind))}")
    directory = Path(str(resources.files("vsr_hallucination.detection"))) / "models" / kind
    if not directory.is_dir():
        raise ModelDirectoryError(
            directory,
            f"the embedded {kind} model is not in this installation",
            "reinstall the wheel, or name a model directory with model_id",
        )
    return directory


def read_metadata(directory: Path, kind: Kind) -> ModelMetadata:
    """Metadata of a model directory; without ``vsr.json`` plain defaults (labels from ``id2label``).

    Raises ModelDirectoryError where the file is there but not ours, not JSON, or of another kind.
    """
    config = _read_json(_directory(directory), "config.json")
    labels = _labels(config.get("id2label"))
    path = directory / METADATA
    if not path.is_file():
        return ModelMetadata(kind=kind, labels=labels)
    raw = _read_json(directory, METADATA)
    remedy = f"restore {METADATA} from the model's release, or remove it to use the model as a plain one"
    if raw.get("format") != METADATA_FORMAT:
        raise ModelDirectoryError(
            directory, f"{METADATA} has format {raw.get('format')!r}, this version reads {METADATA_FORMAT}", remedy
        )
    if raw.get("kind") != kind:
        raise ModelDirectoryError(
            directory,
            f"{METADATA} says the model is a {raw.get('kind')!r}, but it is configured as {kind!r}",
            "point the setting at a model of that kind",
        )
    try:
        encoding = dict(raw.get("encoding", {}))
        return ModelMetadata(
            kind=kind,
            novelty_token_type=_optional_int(encoding.get("novelty_token_type"), "encoding.novelty_token_type", 0),
            max_length=_optional_int(encoding.get("max_length"), "encoding.max_length", 16),
            max_answer=_optional_int(encoding.get("max_answer"), "encoding.max_answer", 4),
            max_question=_optional_int(encoding.get("max_question"), "encoding.max_question", 1),
            temperature=number_in(raw.get("temperature", 1.0), "temperature", 0.01, 100),
            thresholds=tuple(
                sorted(
                    (str(name), number_in(value, f"thresholds.{name}", 0, 1))
                    for name, value in dict(raw.get("thresholds", {})).items()
                )
            ),
            scripts=tuple(str(s) for s in raw.get("scripts", ())),
            languages=tuple(str(s) for s in raw.get("languages", ())),
            labels=labels or _labels(raw.get("labels")),
            sentence=None if raw.get("sentence") is None else SentenceModel.from_json(raw["sentence"]),
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise ModelDirectoryError(directory, f"{METADATA} is malformed ({error})", remedy) from error


def load_model(directory: Path, kind: Kind) -> nn.Module:
    """The torch model of a directory, in eval mode, fp32, on the CPU.

    Raises ModelDirectoryError for a missing, incomplete or corrupt directory.
    """
    _read_json(_directory(directory), "config.json")
    from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification

    auto = AutoModelForTokenClassification if kind == "detector" else AutoModelForSequenceClassification
    if (directory / INT8_WEIGHTS).is_file():
        model = _load_int8(directory, auto)
    elif weight_files(directory):
        try:
            model = auto.from_pretrained(
                str(directory), local_files_only=True, trust_remote_code=False, use_safetensors=True
            )
        # transformers, safetensors and torch raise a dozen unrelated types for one fact: it does not load.
        except Exception as error:
            raise _corrupt(directory, error) from error
    else:
        raise ModelDirectoryError(
            directory,
            f"no weights: neither {INT8_WEIGHTS} nor {STOCK_WEIGHTS} (nor its shards)",
            "download the whole model, in safetensors format (pickled weights are not loaded)",
        )
    loaded: nn.Module = model.float().eval()
    return loaded


def save_int8(model: nn.Module, directory: Path) -> None:
    """Writes ``model``'s weights as ``model.int8.safetensors`` and its ``config.json`` into ``directory``."""
    import torch
    from safetensors.torch import save_file

    tensors: dict[str, Tensor] = {}
    for name, tensor in model.state_dict().items():
        value = tensor.detach().float().contiguous()
        if value.ndim == 2 and value.numel() >= SMALLEST_QUANTIZED:
            # An all-zero row (padding) keeps scale 1, so that 0 / scale stays 0.
            peak = value.abs().amax(dim=1)
            scale = torch.where(peak > 0, peak / 127.0, torch.ones_like(peak))
            tensors[name] = torch.round(value / scale[:, None]).clamp_(-127, 127).to(torch.int8)
            tensors[name + SCALE_SUFFIX] = scale
        else:
            tensors[name] = value
    directory.mkdir(parents=True, exist_ok=True)
    model.config.save_pretrained(str(directory))  # type: ignore[operator,union-attr]
    path = directory / INT8_WEIGHTS
    save_file(tensors, str(path), metadata={"format": "vsr-int8-1"})
    # safetensors creates files for their owner alone; a wheel's files are read by whoever runs the service.
    path.chmod(0o644)


def weight_files(directory: Path) -> tuple[Path, ...]:
    """The weight files ``load_model`` would read, sorted by name."""
    if (directory / INT8_WEIGHTS).is_file():
        return (directory / INT8_WEIGHTS,)
    if (directory / STOCK_WEIGHTS).is_file():
        return (directory / STOCK_WEIGHTS,)
    return tuple(sorted(directory.glob("model-*-of-*.safetensors")))


def weights_sha256(directory: Path) -> str:
    """SHA-256 over the weight files' bytes, in name order: the identity put into audit records."""
    files = weight_files(_directory(directory))
    if not files:
        raise ModelDirectoryError(directory, "no weights to identify", "download the whole model")
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as handle:
            while chunk := handle.read(_HASH_CHUNK):
                digest.update(chunk)
    return digest.hexdigest()


def _load_int8(directory: Path, auto: Any) -> Any:
    import torch
    from safetensors.torch import load_file
    from transformers import AutoConfig

    try:
        stored = load_file(str(directory / INT8_WEIGHTS))
        state: dict[str, Tensor] = {}
        for name, tensor in stored.items():
            if name.endswith(SCALE_SUFFIX):
                continue
            scale = stored.get(name + SCALE_SUFFIX)
            if tensor.dtype == torch.int8:
                if scale is None:
                    raise ValueError(f"int8 tensor {name} has no scale")
                state[name] = tensor.float() * scale[:, None]
            else:
                state[name] = tensor
        if not all(bool(torch.isfinite(tensor).all()) for tensor in state.values()):
            raise ValueError("weights hold NaN or infinity")
        config = AutoConfig.from_pretrained(str(directory), local_files_only=True, trust_remote_code=False)
        model = auto.from_config(config, trust_remote_code=False)
        model.load_state_dict(state, strict=True)
    # As above: many unrelated types, one fact.
    except Exception as error:
        raise _corrupt(directory, error) from error
    return model


def _corrupt(directory: Path, error: Exception) -> ModelDirectoryError:
    first_line = (str(error).splitlines() or [""])[0][:300]
    return ModelDirectoryError(
        directory,
        f"the model does not load ({type(error).__name__}: {first_line})",
        "the files are corrupt or of another architecture: fetch the directory again and compare its checksums",
    )


def _directory(directory: Path) -> Path:
    if not directory.is_dir():
        raise ModelDirectoryError(
            directory, "no such directory", "check model_id / model_ref, or mount the model there"
        )
    return directory


def _read_json(directory: Path, name: str) -> dict[str, Any]:
    path = directory / name
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelDirectoryError(directory, f"no {name}", "download the whole model directory") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ModelDirectoryError(
            directory, f"{name} cannot be read ({type(error).__name__})", "fetch the file again"
        ) from error
    if not isinstance(value, dict):
        raise ModelDirectoryError(directory, f"{name} is not a JSON object", "fetch the file again")
    return value


def _labels(raw: object) -> tuple[tuple[int, str], ...]:
    if not isinstance(raw, dict):
        return ()
    return tuple(sorted((int(key), str(value)) for key, value in raw.items()))


def _optional_int(value: object, name: str, least: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST_TOKENS:
        raise ValueError(f"{name}: {value!r:.40} is not a whole number in {least}..{_MOST_TOKENS}")
    return value
