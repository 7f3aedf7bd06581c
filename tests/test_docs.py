"""Checks that what is written about the tool is so: messages, the map of files, links, commands and options.

Takes the facts from the source itself: its syntax trees, its folders and the parser of its command line.
"""

from __future__ import annotations

import argparse
import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from stillframe.cli.main import make_parser

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "stillframe"
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")))

# ---- messages


def error_classes() -> set[str]:
    """The names of StillframeError and of all classes that derive from it, wherever they are defined."""
    bases = {
        node.name: {ast.unparse(base).rpartition(".")[2] for base in node.bases}
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = {"StillframeError"}
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


def trees() -> dict[str, ast.Module]:
    """The syntax tree of every source file."""
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }


def slugs_in(tree: ast.AST, classes: set[str]) -> Iterator[str]:
    """The slugs that errors made in a file carry. One that is not written out there is an AssertionError."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or ast.unparse(node.func).rpartition(".")[2] not in classes:
            continue
        named = [keyword.value for keyword in node.keywords if keyword.arg == "slug"]
        slug = named[0] if named else node.args[0]
        for one in (slug.body, slug.orelse) if isinstance(slug, ast.IfExp) else (slug,):
            if isinstance(one, ast.Attribute) and one.attr == "slug":
                continue  # another error's, raised once more
            assert isinstance(one, ast.Constant), f"write the slug out, for docs/errors.md: {ast.unparse(node)}"
            yield one.value


def test_every_message_is_explained_and_no_other() -> None:
    classes = error_classes()
    raised = {slug for path, tree in trees().items() if path != "errors.py" for slug in slugs_in(tree, classes)}
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    explained = re.findall(r"^### `([\w-]+)`$", text, re.MULTILINE)
    assert sorted(explained) == sorted(raised)


def test_every_explanation_shows_a_message() -> None:
    """Each heading's text holds a message of three sentences, the second and third indented, as errors print them."""
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    for section in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        name, _, rest = section.partition("\n")
        shown = re.findall(r"^```\n(.*?)\n```$", rest, re.MULTILINE | re.DOTALL)
        assert shown, f"{name} shows no message"
        for message in shown:
            first, *others = message.splitlines()
            assert first[0] != " " and len(others) == 2 and all(line[:2] == "  " for line in others), f"{name}: {message}"


# ---- the map of files


def test_the_map_lists_every_file_and_nothing_else() -> None:
    """A line of it begins with a path below src/stillframe in backquotes. A folder's heading stands for its `__init__.py`."""
    section = readme_section("Map")
    mapped = re.findall(r"^- `([^`]+)` — \S", section, re.MULTILINE)
    files = [
        path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    assert sorted(mapped) == sorted(path for path in files if not path.endswith("/__init__.py"))
    headed = re.findall(r"^\*\*[^*]+\*\* \(`(\w+)/`\)$", section, re.MULTILINE)
    assert sorted(headed) == sorted({path.partition("/")[0] for path in files if "/" in path})


def test_map_lines_stand_below_their_folder() -> None:
    section = readme_section("Map")
    folder = ""
    for line in section.splitlines():
        if heading := re.match(r"\*\*[^*]+\*\*(?: \(`(\w+/)`\))?$", line):
            folder = heading[1] or ""
        elif path := re.match(r"- `([^`]+)`", line):
            assert path[1].rpartition("/")[0] == folder.rstrip("/"), f"{path[1]} stands below {folder or 'the package'}"


def test_the_map_names_every_top_folder_and_no_other() -> None:
    """Told by a name with a slash at its end; `src/` is what the whole map is of."""
    section = readme_section("Map")
    packages = {path.name for path in SOURCE.iterdir() if path.is_dir()}
    named = set(re.findall(r"`(\w+)/`", section)) - packages
    here = {path.name for path in ROOT.iterdir() if path.is_dir() and tracked(path)} - {"src"}
    assert named == here


def tracked(folder: Path) -> bool:
    """Whether a folder is of the project itself: not hidden, and with a file of text in it."""
    kinds = ("*.py", "*.md")
    return folder.name[0] not in "._" and folder.name not in ("build", "dist") and any(any(folder.glob(kind)) for kind in kinds)


def readme_section(title: str) -> str:
    """The text below a heading of the second rank in the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.split(rf"^## {title}$", text, flags=re.MULTILINE)[1].partition("\n## ")[0]


# ---- links


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target in links_in(page):
        path, _, heading = target.partition("#")
        there = (ROOT / page).parent / path if path else ROOT / page
        assert there.exists(), f"{page}: {target} leads nowhere"
        if heading:
            known = anchors_in(there.read_text(encoding="utf-8"))
            assert heading in known, f"{page}: {target} names no heading; there are {', '.join(known)}"


def links_in(page: str) -> list[str]:
    """The relative links of a page, outside of code."""
    text = prose((ROOT / page).read_text(encoding="utf-8"))
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"[a-z]+:", target)]


def prose(text: str) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors_in(text: str) -> list[str]:
    """The anchors of a page's headings, as they are made on the web: small letters, no punctuation, hyphens for spaces."""
    titles = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles]


# ---- commands


@pytest.mark.parametrize("page", PAGES)
def test_commands_are_those_of_the_command_line(page: str) -> None:
    """Every `stillframe …` in a page: the command exists, takes these options, and a view named after a file exists."""
    for words in commands_in((ROOT / page).read_text(encoding="utf-8")):
        command, *rest = words
        assert command in COMMANDS or command in options_of(PARSER), f"{page}: there is no stillframe {' '.join(words)}"
        if command not in COMMANDS:
            continue
        known = options_of(COMMANDS[command])
        for word in rest if command != "run" else own_words(rest, known):
            assert not word.startswith("-") or word in known, f"{page}: stillframe {command} has no {word}"
        if command == "show" and len(rest) > 1 and not rest[1].startswith("-"):
            assert rest[1] in views(), f"{page}: there is no view {rest[1]}"


@pytest.mark.parametrize("page", PAGES)
def test_options_named_alone_exist(page: str) -> None:
    """Every option in backquotes, such as `--json`, is one of some command, or known to be something else."""
    known = {option for parser in (PARSER, *COMMANDS.values()) for option in options_of(parser)}
    unknown = options_in((ROOT / page).read_text(encoding="utf-8")) - known - OTHERS
    assert not unknown, f"{page}: no command takes {', '.join(sorted(unknown))}"


# Options of pip and of pytest, and what SQLite adds to a file's name.
OTHERS = {"--no-deps", "--assert", "-wal", "-shm"}


def test_what_is_no_option_of_ours_is_named_somewhere() -> None:
    assert set().union(*(options_in((ROOT / page).read_text(encoding="utf-8")) for page in PAGES)) >= OTHERS


def options_in(text: str) -> set[str]:
    """The options that a page names in backquotes, outside of its blocks of code."""
    return {found[0] for code in re.findall(r"`([^`]+)`", prose(text)) if (found := re.match(r"--?[a-z][\w-]*", code))}


def test_every_command_and_option_is_somewhere_in_the_help() -> None:
    """What the tests above compare with is what a person gets: no hidden command, no option without a word of help."""
    for parser in COMMANDS.values():
        for action in parser._actions:
            assert action.help and action.help is not argparse.SUPPRESS, f"{parser.prog}: {action.dest} is not explained"


def test_every_command_is_in_the_readme() -> None:
    told = {words[0] for words in commands_in((ROOT / "README.md").read_text(encoding="utf-8"))}
    assert set(COMMANDS) <= told
    assert all(f"`{view}`" in readme_section("What it shows") or view in shown_views() for view in views())


def shown_views() -> set[str]:
    """The views of `stillframe show` that the README has in a command."""
    words = commands_in((ROOT / "README.md").read_text(encoding="utf-8"))
    return {command[2] for command in words if command[0] == "show" and len(command) > 2}


def commands_in(text: str) -> list[list[str]]:
    """The words after `stillframe` wherever a command is written: in backquotes, or at the beginning of a line of code."""
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"`stillframe ([^`]+)`", outside)
    for block in re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        # A message may end in a command, after a colon; an error's own name stands before one.
        found += re.findall(r"^(?:.*: )?stillframe ((?!: )[a-z-].*)$", block, re.MULTILINE)
    return [words for one in found if (words := words_of(one))]


def words_of(command: str) -> list[str]:
    """A command's words, without what follows: an explanation, a comment, or another program in a pipe."""
    command = re.split(r"  +|\s#|\s\||; |\)|…", command)[0]
    return shlex.split(command.replace("[", "").replace("]", ""))


def own_words(words: list[str], known: dict[str, argparse.Action]) -> list[str]:
    """The words of `stillframe run` up to the script: what follows is the script's."""
    own, rest = [], list(words)
    while rest and rest[0].startswith("-"):
        own.append(rest.pop(0))
        action = known.get(own[-1])
        if rest and action is not None and action.nargs is None:
            rest.pop(0)
    return own


def views() -> tuple[str, ...]:
    return next(tuple(action.choices) for action in COMMANDS["show"]._actions if action.dest == "view" and action.choices)


def options_of(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    return dict(parser._option_string_actions)


PARSER = make_parser()
COMMANDS: dict[str, argparse.ArgumentParser] = next(
    action.choices for action in PARSER._actions if isinstance(action, argparse._SubParsersAction)
)
