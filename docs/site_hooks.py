"""Adds the notebooks, CONTRIBUTING.md and links to other files of the repository to the pages of docs/ (see mkdocs.yml), and Markdown to the site."""

from __future__ import annotations

import json
import logging
import posixpath
import re
import runpy
import shutil
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
LOG = logging.getLogger("mkdocs.hooks")
# Pages of the site that are not in docs/, and the files that they show.
GENERATED = {"contributing.md": "CONTRIBUTING.md"} | {
    f"notebooks/{path.stem}.md": f"examples/{path.name}" for path in sorted((ROOT / "examples").glob("*.ipynb"))
}
_PAGE_OF = {source: page for page, source in GENERATED.items()}
_SHIM = "https://unpkg.com/iframe-worker/shim"
# A link out of docs/, outside code: [text](../file) or [text](../file#part).
_OUTSIDE = re.compile(r"\[(?P<text>[^\]\n]+)\]\((?P<target>(?:\.\./)+[^)#\s]+)(?P<part>#[^)\s]*)?\)")


def on_files(files: Any, *, config: Any) -> Any:
    """Add the generated pages and the icon of the viewer."""
    for page, source in GENERATED.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        content = _notebook_page(json.loads(text)) if source.endswith(".ipynb") else text.replace("](docs/", "](")
        files.append(File.generated(config, page, content=content))
    icon = ROOT / "src/ragstone/web/static/icon.svg"
    files.append(File.generated(config, "images/logo.svg", abs_src_path=str(icon)))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Lead links to files outside docs/ to their generated page or to the repository, else show only their text."""
    here = posixpath.dirname(page.file.src_uri)

    def replaced(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", here, link["target"]))
        if path.startswith("docs/"):
            return link[0]
        if not (ROOT / path).exists():
            LOG.warning("%s links to %s, which does not exist.", page.file.src_uri, path)
        if path in _PAGE_OF:
            return f"[{link['text']}]({posixpath.relpath(_PAGE_OF[path], here or '.')}{link['part'] or ''})"
        return (
            f"[{link['text']}]({config.repo_url}/blob/main/{path})" if config.repo_url else f"{link['text']} (`{path}`)"
        )

    return _OUTSIDE.sub(replaced, markdown)


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """Replace the one script that the theme loads from outside by ours."""
    up = "../" * page.file.dest_uri.count("/")
    return output.replace(_SHIM, f"{up}theme/worker.js")


def on_post_template(output: str, **_: Any) -> str:
    """The same in the page for missing pages, whose links are absolute."""
    return output.replace(_SHIM, "/theme/worker.js")


def on_post_build(*, config: Any) -> None:
    """Put every page as Markdown next to its HTML, and all of them in one file, for language models."""
    site = Path(config.site_dir)
    for page in sorted((ROOT / "docs").rglob("*.md")):
        shutil.copyfile(page, site / page.relative_to(ROOT / "docs"))
    everything = runpy.run_path(str(ROOT / "docs" / "llms_text.py"))["all_pages"]()
    (site / "llms-full.txt").write_text(everything, encoding="utf-8")


def _notebook_page(notebook: dict[str, Any]) -> str:
    parts = [_cell(cell) for cell in notebook["cells"]]
    return "\n\n".join(part for part in parts if part)


def _cell(cell: dict[str, Any]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] != "code":
        return source.replace(".ipynb)", ".md)")
    outputs = [_output(output) for output in cell["outputs"]]
    return "\n\n".join([f"```python\n{source}\n```", *filter(None, outputs)])


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    # Blank lines end a block of HTML in Markdown. A progress bar that has finished is not worth a line.
    if html := "".join(data.get("text/html", "")):
        return "" if output["output_type"] == "display_data" else re.sub(r"\n\s*\n", "\n", html)
    text = "".join(output.get("text", "") or data.get("text/plain", ""))
    return f"```text\n{text.rstrip()}\n```" if text else ""
