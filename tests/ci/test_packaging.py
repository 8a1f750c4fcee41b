"""What is installed: the conda recipe says the same as pyproject.toml, and the package needs nothing else."""

import ast
import re
import sys
import tomllib
from functools import cache

import yaml

from ragstone import __version__
from tests.ci.runner import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE = yaml.safe_load((ROOT / "conda" / "meta.yaml").read_text(encoding="utf-8"))
# Modules whose distribution has another name, or comes with a dependency and is part of its interface.
PACKAGES = {"docx": "python-docx", "markdown_it": "rich", "markupsafe": "jinja2", "yarl": "aiohttp"}
PACKAGES |= dict.fromkeys(("google", "opentelemetry"), "opentelemetry-sdk") | {"mlflow": "mlflow-skinny"}
# Not declared: the user has them, or a message names them.
OF_THE_USER = {"datasets", "huggingface_hub", "pandas", "polars", "pytest", "sentence_transformers"}
OF_THE_USER |= {"torch", "transformers", "wordllama"}


def plain(requirement):
    return requirement.replace(" ", "")


def names(requirements):
    return {re.match(r"[\w-]+", requirement)[0].lower() for requirement in requirements}


def test_the_conda_recipe_has_the_dependencies_of_the_package():
    project = PROJECT["project"]
    run = [f"python{project['requires-python']}", *project["dependencies"]]
    assert sorted(map(plain, RECIPE["requirements"]["run"])) == sorted(run)
    assert set(PROJECT["build-system"]["requires"]) <= set(map(plain, RECIPE["requirements"]["host"]))
    assert RECIPE["package"] == {"name": project["name"], "version": __version__}
    assert [plain(line) for line in RECIPE["build"]["entry_points"]] == [
        f"{name}={place}" for name, place in project["scripts"].items()
    ]
    assert RECIPE["about"]["license"] == project["license"]
    assert RECIPE["about"]["summary"] == project["description"]


@cache
def imports():
    """Each file with the names that it imports, and whether it does so when the file is imported."""
    found = []
    for path in sorted((ROOT / "src" / "ragstone").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        early = set(map(id, tree.body))
        for node in ast.walk(tree):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            found += [
                (path.relative_to(ROOT / "src" / "ragstone").as_posix(), name.partition(".")[0], id(node) in early)
                for name in modules
            ]
    return found


def test_every_import_is_declared():
    always = names(PROJECT["project"]["dependencies"])
    late = OF_THE_USER.union(always, *map(names, PROJECT["project"]["optional-dependencies"].values()))
    for path, module, early in imports():
        if module not in sys.stdlib_module_names and module != "ragstone" and path != "pytest_plugin.py":
            assert PACKAGES.get(module, module) in (always if early else late), (path, module)


def test_scipy_and_sacrebleu_are_extras():
    """They take 165 MB."""
    users = {path for path, module, _ in imports() if module in ("scipy", "sacrebleu")}
    assert users == {"metrics/token_similarity.py", "metrics/translation.py"}
    assert not names(PROJECT["project"]["dependencies"]) & {"scipy", "sacrebleu"}
