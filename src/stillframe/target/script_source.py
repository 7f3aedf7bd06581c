"""Takes a main module's source, as a file's bytes or as a module's spec, and gives its code.

Must not know how the code is run.
"""

from __future__ import annotations

import codecs
import importlib.machinery
import re
import types
from collections.abc import Callable
from typing import cast

CompileMain = Callable[[bytes, str], types.CodeType]

# PEP 263: an encoding is declared in a comment on the first line, or on the second after a blank or a comment.
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")
_BLANK = re.compile(rb"[ \t\f\r]*(#.*)?$", re.DOTALL)


def compile_plain(source: bytes, filename: str) -> types.CodeType:
    """The code Python itself would make of it."""
    return compile(source, filename, "exec", dont_inherit=True)


def code_of_file(source: bytes, filename: str, compile_main: CompileMain) -> types.CodeType:
    """The code of a script. A SyntaxError is worded as Python words it for a file."""
    if filename.endswith(".pyc"):
        loader = importlib.machinery.SourcelessFileLoader("__main__", filename)
        return cast(types.CodeType, loader.get_code("__main__"))
    try:
        return compile_main(source, filename)
    except (SyntaxError, ValueError) as error:
        given = error
    raise _fault_of_file(source, filename) or given


def code_of_module(spec: importlib.machinery.ModuleSpec, code: types.CodeType, compile_main: CompileMain) -> types.CodeType:
    """The code of a module that `import` found, where its source is to be had; else `code`, which is what it found."""
    if compile_main is compile_plain:
        return code
    get_source = getattr(spec.loader, "get_source", None)
    get_data = getattr(spec.loader, "get_data", None)
    if get_data is not None and code.co_filename.endswith(".py"):
        return compile_main(get_data(code.co_filename), code.co_filename)
    text = get_source(spec.name) if get_source is not None else None
    return code if text is None else compile_main(text.encode(), code.co_filename)


def _fault_of_file(source: bytes, filename: str) -> SyntaxError | None:
    """What Python would say of this file, where compiling the same bytes says it otherwise; None if it is Python."""
    null, undeclared = source.find(b"\0"), _undeclared_byte(source)
    if null >= 0 and (undeclared is None or null < undeclared):
        number = source.count(b"\n", 0, null) + 1
        line = source[source.rfind(b"\n", 0, null) + 1 : null].decode("utf-8", "replace")
        return SyntaxError("source code cannot contain null bytes", (filename, number, None, line))
    if undeclared is not None:
        number = source.count(b"\n", 0, undeclared) + 1
        return SyntaxError(
            f"Non-UTF-8 code starting with '\\x{source[undeclared]:02x}' in file {filename} on line {number}, but no "
            "encoding declared; see https://peps.python.org/pep-0263/ for details"
        )
    try:
        compile_plain(source, filename)
    except SyntaxError as error:
        message = str(error.msg)
        if message.startswith("unknown encoding: "):
            return SyntaxError(message.replace("unknown encoding", "encoding problem", 1))
        return error
    return None


def _undeclared_byte(source: bytes) -> int | None:
    """Where the first byte stands that is not UTF-8, in a source that declares no encoding."""
    head = source.split(b"\n", 2)[:2]
    if source.startswith(codecs.BOM_UTF8) or _COOKIE.match(head[0]):
        return None
    if _BLANK.match(head[0]) and len(head) > 1 and _COOKIE.match(head[1]):
        return None
    try:
        source.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None
