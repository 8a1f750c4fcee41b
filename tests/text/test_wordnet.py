"""WordNet's files, read in a small one made here."""

import zipfile

import pytest

from ragstone.text.wordnet import find_wordnet

LICENCE = "  1 WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved.  \n"
SYNSETS = {
    "noun": ["car auto motor_vehicle", "dog hound", "man", "Paris City_of_Light"],
    "verb": ["run go", "buy purchase"],
    "adj": ["large big", "galore(ip)"],
    "adv": ["quickly fast"],
}
EXCEPTIONS = {"noun": "", "verb": "bought buy\nran run\n", "adj": "bigger big\n", "adv": ""}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files in a folder named as nltk names it; nothing else on this machine is looked at."""
    home = tmp_path / "nltk_data" / "corpora" / "wordnet"
    home.mkdir(parents=True)
    for part, synsets in SYNSETS.items():
        data, index = LICENCE, {}
        for words in synsets:
            members = words.split()
            for word in members:
                index.setdefault(word.partition("(")[0].lower(), []).append(f"{len(data):08d}")
            listed = " ".join(f"{word} 0" for word in members)
            data += f"{len(data):08d} 00 {part[0]} {len(members):02x} {listed} 000 | a gloss  \n"
        lines = [f"{word} {part[0]} {len(at)} 1 @ {len(at)} 0 {' '.join(at)}  \n" for word, at in sorted(index.items())]
        (home / f"data.{part}").write_text(data)
        (home / f"index.{part}").write_text(LICENCE + "".join(lines))
        (home / f"{part}.exc").write_text(EXCEPTIONS[part])
    for name in ("WNSEARCHDIR", "WNHOME", "NLTK_DATA"):
        monkeypatch.delenv(name, raising=False)
    return home


def test_synonyms(folder, monkeypatch):
    monkeypatch.setenv("WNSEARCHDIR", str(folder))
    wordnet = find_wordnet()
    assert wordnet.signature == "wordnet/3.0"
    expected = {
        "car": "car auto",
        "cars": "car auto",
        "men": "man",
        "bought": "buy purchase",
        "running": "",
        "goes": "run go",
        "runs": "run go",
        "bigger": "large big",
        "galore": "galore",
        "paris": "Paris",
        "motor_vehicle": "car auto",
        "fast": "quickly fast",
        "straße": "",
        "": "",
    }
    assert {word: " ".join(sorted(wordnet.synonyms(word))) for word in expected} == {
        word: " ".join(sorted(words.split())) for word, words in expected.items()
    }


def test_found_among_the_data_of_nltk_unpacked_or_not(folder, monkeypatch):
    monkeypatch.setenv("NLTK_DATA", f"/nowhere:{folder.parents[1]}")
    assert "auto" in find_wordnet().synonyms("car")
    with zipfile.ZipFile(folder.with_suffix(".zip"), "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"wordnet/{file.name}")
            file.unlink()
    assert find_wordnet().signature == "wordnet/3.0"
    assert "auto" in find_wordnet().synonyms("car")


def test_a_folder_that_is_no_wordnet_is_passed_over(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path))
    monkeypatch.setenv("NLTK_DATA", str(folder.parents[1]))
    assert "auto" in find_wordnet().synonyms("car")


def test_exceptions_may_be_missing(folder, monkeypatch):
    for part in SYNSETS:
        (folder / f"{part}.exc").unlink()
    monkeypatch.setenv("WNSEARCHDIR", str(folder))
    assert "auto" in find_wordnet().synonyms("cars")
