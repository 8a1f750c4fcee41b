"""scripts/wheel.py: what the wheel contains, and every command in an empty environment without a network."""

import importlib.util
import subprocess
import sys
import zipfile

import pytest

from tests.scripts.conftest import SCRIPTS


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("wheel", SCRIPTS / "wheel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def wheel(script, tmp_path_factory):
    _, built = script.build(tmp_path_factory.mktemp("dist"))
    return built


@pytest.mark.slow
def test_the_wheel_is_the_package_and_nothing_else(script, wheel):
    assert script.check_contents(wheel) == []
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    folders = {name.split("/")[0] for name in names}
    assert {name for name in folders if not name.endswith(".dist-info")} == {"ragstone"}
    for needed in (
        "web/templates/",
        "web/static/",
        "models/weights/local_judge/",
        "models/weights/judge_1_5b/adapter.gguf",
        "examples/harbour/",
        "py.typed",
    ):
        assert any(name.startswith(f"ragstone/{needed}") for name in names), needed


@pytest.mark.slow
def test_what_is_missing_and_what_is_too_much(script, wheel, tmp_path):
    wrong = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as archive, zipfile.ZipFile(wrong, "w") as copy:
        for name in archive.namelist():
            if name != "ragstone/py.typed":
                copy.writestr(name, b"")
        copy.writestr("tests/test_x.py", b"")
    assert script.check_contents(wrong) == ["ragstone/py.typed is not in the wheel", "tests/test_x.py is in the wheel"]


def test_which_pythons(script):
    assert script.find_python(sys.executable) == sys.executable
    assert script.find_python("no-such-python") is None


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_command_in_an_empty_environment(tmp_path):
    done = subprocess.run(
        [sys.executable, SCRIPTS / "wheel.py", "--python", sys.executable, "--dist", tmp_path / "dist"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "no network" in done.stdout
    assert "WRONG" not in done.stdout
