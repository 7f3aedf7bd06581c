"""Runs small programs under the real `python` and under run_script or run_module; both must print and end the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType

import pytest

from stillframe.errors import UnknownNameError, UsageError
from stillframe.target import script
from stillframe.target.script import Interrupted, run_module, run_script

SRC = Path(script.__file__).parents[2]

DRIVER = """
import sys
from stillframe.errors import StillframeError
from stillframe.target.script import run_module, run_script
first, *rest = sys.argv[1:]
how = (lambda: run_module(rest[0], rest[1:], restore=False)) if first == "-m" else (
    lambda: run_script(first, rest, restore=False))
sys.exit(how())
"""

# The same through compile_main, as woven code comes in: other code objects from the same source.
DRIVER_COMPILING = DRIVER.replace(
    "restore=False", "lambda source, name: compile(source, name, 'exec', dont_inherit=True), restore=False"
)

SHOW_MAIN = """
import sys
import __main__
print(sorted(name for name in globals()))
print(__name__, __file__, __package__, __spec__ and __spec__.name)
print(type(__loader__).__name__, type(__builtins__).__name__)
print(__main__.__dict__ is globals(), sys.argv, sys.path[0], globals().get("__cached__") is None)
"""

ONE_FILE: dict[str, str | bytes] = {
    "empty": "",
    "main": SHOW_MAIN,
    "docstring": '"""Words."""\nprint(__doc__, __annotations__)\nx: int = 1\nprint(__annotations__)\n',
    "guarded": 'def main():\n    print("ran")\n\nif __name__ == "__main__":\n    main()\n',
    "exit_none": "import sys\nsys.exit()\n",
    "exit_int": "import sys\nprint('out')\nsys.exit(3)\n",
    "exit_negative": "import sys\nsys.exit(-1)\n",
    "exit_true": "import sys\nsys.exit(True)\n",
    "exit_text": "import sys\nprint('out')\nsys.exit('no more: 停')\n",
    "exit_tuple": "raise SystemExit(1, 2)\n",
    "raises": "def inner(x):\n    return 1 / x\n\ndef outer():\n    return [inner(0)]\n\nprint('before')\nouter()\n",
    "chained": "try:\n    {}['k']\nexcept KeyError as error:\n    raise ValueError('v') from error\n",
    "in_context": "try:\n    {}['k']\nexcept KeyError:\n    [].pop()\n",
    "noted": "error = ValueError('v')\nerror.add_note('a note')\nraise error\n",
    "group": "raise ExceptionGroup('many', [ValueError(1), TypeError('t')])\n",
    "base": "class Odd(BaseException):\n    pass\nraise Odd\n",
    "in_import": "import json\njson.loads('{')\n",
    "recursion": "def f(n):\n    return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as error:\n    print(error)\n",
    "hook": """
        import sys
        def hook(kind, value, traceback):
            print("hook", kind.__name__, value, traceback.tb_lineno, sys.exc_info(), sys.last_value is value)
        sys.excepthook = hook
        1 / 0
        """,
    "hook_raises": """
        import sys
        def hook(*parts):
            raise KeyError("in hook")
        sys.excepthook = hook
        1 / 0
        """,
    "hook_exits": "import sys\nsys.excepthook = lambda *parts: sys.exit(7)\n1 / 0\n",
    "atexit": """
        import atexit, __main__
        class Last:
            def __del__(self):
                print("deleted", flush=True)
        last = Last()
        atexit.register(lambda: print("at exit", __main__.last is last))
        print("end of main")
        """,
    "thread": """
        import threading, time
        def work():
            time.sleep(0.1)
            import __main__
            print("worked", __main__.threading is threading)
        threading.Thread(target=work).start()
        print("end of main")
        """,
    "pool": """
        from concurrent.futures import ThreadPoolExecutor
        print(list(ThreadPoolExecutor(2).map(abs, [-1, -2])))
        """,
    "pickle": """
        import pickle
        class Point:
            def __init__(self, x):
                self.x = x
        print(pickle.loads(pickle.dumps(Point(3))).x, Point.__module__)
        """,
    "spawn": """
        import multiprocessing
        def double(x):
            return x * 2, __name__
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(double, [1, 2]))
        """,
    "warning": "import warnings\nwarnings.warn('old', DeprecationWarning)\n",
    "unflushed": "import sys\nsys.stdout.write('out')\nsys.stderr.write('err')\nsys.stdout.write('more')\n",
    "future": "from __future__ import annotations\ndef f(x: nowhere): pass\nprint(f.__annotations__)\n",
    "inspect": "import inspect\ndef f(): pass\nclass C: pass\nprint(inspect.getsource(f), inspect.getsource(C))\n",
    "syntax": "x = 1\ny = (\n",
    "indent": "if 1:\nx = 1\n",
    "return_outside": "x = 1\nreturn x\n",
    "crlf": b"x = 1\r\nprint('''a\r\nb''')\r\n1 / 0\r\n",
    "bom": "\ufeffprint('停')\n",
    "latin": "# -*- coding: latin-1 -*-\nprint('\xe9')\n1 / 0  # \xe9\n".encode("latin-1"),
    "second_line_cookie": "#!/usr/bin/env python\n# vim: set fileencoding=gbk :\nprint('定格')\n".encode("gbk"),
    "no_cookie": b"x = 1\ny = '\xe9'\n",
    "third_line_cookie": b"x = 1\n\n# coding: latin-1\ny = '\xe9'\n",
    "wrong_utf8": b"# coding: utf-8\ny = '\xe9'\n",
    "unknown_cookie": "# coding: nosuch\nx = 1\n",
    "picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "executable": b"\x7fELF\x02\x01\x01\0\0\xff",
    "null": "x = 1\ny = 2\0\n",
}

PACKAGE: Mapping[str, str] = {
    "pkg/__init__.py": "import sys\nprint('init', sys.argv)\n",
    "pkg/__main__.py": "from .helper import help_me\n" + SHOW_MAIN + "help_me()\n",
    "pkg/helper.py": "def help_me():\n    print('helped', __name__)\n",
    "pkg/raises.py": "from . import helper\nhelper.help_me()\n1 / 0\n",
    "pkg/syntax.py": "x = (\n",
    "pkg/exits.py": "import sys\nsys.exit(4)\n",
    "broken/__init__.py": "import nowhere_to_be_found\n",
    "broken/mod.py": "",
    "alone.py": SHOW_MAIN,
    "folder/__main__.py": "import beside\n" + SHOW_MAIN + "1 / 0\n",
    "folder/beside.py": "print('beside')\n",
    "linked/real.py": SHOW_MAIN,
}


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else textwrap.dedent(content).encode())


def run(command: Sequence[str], folder: Path) -> tuple[int, bytes, bytes]:
    environment = os.environ | {"PYTHONPATH": str(SRC), "PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def assert_same(command: Sequence[str], folder: Path, driver: str = DRIVER) -> tuple[int, bytes, bytes]:
    plain = run(command, folder)
    ours = run(["-c", driver, *command], folder)
    assert ours == plain
    return plain


@pytest.mark.parametrize("name", ONE_FILE)
@pytest.mark.parametrize("driver", [DRIVER, DRIVER_COMPILING], ids=["plain", "compiling"])
def test_script_is_as_under_python(name: str, driver: str, tmp_path: Path) -> None:
    write(tmp_path, {f"{name}_.py": ONE_FILE[name]})
    assert_same([f"{name}_.py", "one", "--two"], tmp_path, driver)


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "pkg", "a", "-b"],
        ["-m", "pkg.raises"],
        ["-m", "pkg.syntax"],
        ["-m", "pkg.exits"],
        ["-m", "broken.mod"],
        ["-m", "alone", "x"],
        ["-m", "json.tool", "--help"],
        ["folder", "x"],
        ["packed.zip", "x"],
        ["./linked/../linked/real.py"],
        ["link.py"],
        ["alone.pyc"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("driver", [DRIVER, DRIVER_COMPILING], ids=["plain", "compiling"])
def test_modules_folders_and_zips_are_as_under_python(command: list[str], driver: str, tmp_path: Path) -> None:
    write(tmp_path, PACKAGE)
    (tmp_path / "link.py").symlink_to(tmp_path / "linked" / "real.py")
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as packed:
        packed.writestr("__main__.py", SHOW_MAIN + "1 / 0\n")
    if command == ["alone.pyc"]:
        run(["-c", "import py_compile; py_compile.compile('alone.py', 'alone.pyc')"], tmp_path)
    assert_same(command, tmp_path, driver)


def test_cases_do_what_their_names_say(tmp_path: Path) -> None:
    """Guards the comparison: two equal failures of the harness would be equal too."""
    write(tmp_path, PACKAGE | {f"{name}_.py": content for name, content in ONE_FILE.items()})
    assert run(["-c", DRIVER, "exit_int_.py"], tmp_path) == (3, b"out\n", b"")
    assert run(["-c", DRIVER, "spawn_.py"], tmp_path)[1] == b"[(2, '__mp_main__'), (4, '__mp_main__')]\n"
    assert run(["-c", DRIVER, "atexit_.py"], tmp_path)[1] == b"end of main\nat exit True\ndeleted\n"
    code, _, error = run(["-c", DRIVER, "-m", "pkg.raises"], tmp_path)
    assert code == 1 and b"<frozen runpy>" in error and b"stillframe" not in error


def test_ctrl_c_prints_the_traceback_and_gives_130(tmp_path: Path) -> None:
    write(tmp_path, {"stop.py": "import signal\nprint('on')\nsignal.raise_signal(signal.SIGINT)\n"})
    plain = run(["stop.py"], tmp_path)
    ours = run(["-c", DRIVER, "stop.py"], tmp_path)
    assert plain[0] == -signal.SIGINT and ours[0] == 130
    assert ours[1:] == plain[1:]


def test_interrupted_is_not_an_exit_code_of_the_scripts(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, {"says.py": "import sys\nsys.exit(130)\n", "stopped.py": "raise KeyboardInterrupt\n"})
    assert not isinstance(run_script(str(tmp_path / "says.py")), Interrupted)
    assert isinstance(run_script(str(tmp_path / "stopped.py")), Interrupted)
    assert "KeyboardInterrupt" in capfd.readouterr().err


def test_library_use_restores_what_it_set(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = """
        import sys
        sys.argv = ["mine"]
        sys.path = ["/elsewhere"]
        sys.excepthook = print
        del sys.modules["__main__"]
        1 / 0
        """
    write(tmp_path, {"messy.py": source})
    main, argv, path, entries, hook = sys.modules["__main__"], sys.argv, sys.path, list(sys.path), sys.excepthook
    last = {name: value for name, value in vars(sys).items() if name.startswith("last_")}
    assert run_script(str(tmp_path / "messy.py"), ["a"]) == 1
    assert sys.modules["__main__"] is main and sys.argv is argv and sys.path is path and sys.path == entries
    assert sys.excepthook is hook
    assert {name: value for name, value in vars(sys).items() if name.startswith("last_")} == last
    assert "ZeroDivisionError" in capfd.readouterr().out


def test_compile_main_makes_the_code_that_runs(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"said.py": "print('plain')\n"})
    seen: list[tuple[bytes, str]] = []

    def woven(source: bytes, filename: str) -> CodeType:
        seen.append((source, filename))
        return compile(source.replace(b"plain", b"woven"), filename, "exec", dont_inherit=True)

    monkeypatch.chdir(tmp_path)
    assert run_script("said.py", compile_main=woven) == 0
    assert run_module("said", compile_main=woven) == 0
    assert capfd.readouterr().out == "woven\nwoven\n"
    assert seen == [(b"print('plain')\n", str(tmp_path / "said.py"))] * 2


def test_a_fault_of_compile_main_is_not_blamed_on_the_script(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def faulty(source: bytes, filename: str) -> CodeType:
        raise ValueError("woven wrong")

    write(tmp_path, {"good.py": "print('plain')\n"})
    assert run_script(str(tmp_path / "good.py"), compile_main=faulty) == 1
    assert "woven wrong" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("path", "slug", "says"),
    [
        ("train_modle.py", "script-not-found", "train_model.py"),
        ("zzz.py", "script-not-found", "nor one of a similar name"),
        ("nowhere/train.py", "script-not-found", "no folder"),
        ("bare", "nothing-to-run", "__main__"),
    ],
)
def test_nothing_to_run_is_a_usage_error(
    path: str, slug: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"train_model.py": "", "bare/other.py": ""})
    monkeypatch.chdir(tmp_path)
    main = sys.modules["__main__"]
    with pytest.raises(UsageError) as caught:
        run_script(path, restore=False)
    assert caught.value.slug == slug and says in str(caught.value)
    assert sys.modules["__main__"] is main


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_script_is_a_usage_error(tmp_path: Path) -> None:
    write(tmp_path, {"closed.py": ""})
    (tmp_path / "closed.py").chmod(0)
    with pytest.raises(UsageError) as caught:
        run_script(str(tmp_path / "closed.py"))
    assert caught.value.slug == "script-unreadable"


def test_unknown_module_gets_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"trainer.py": "", "pkg/__init__.py": ""})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownNameError) as caught:
        run_module("trainre")
    assert "trainer" in caught.value.nearest
    with pytest.raises(UsageError) as no_main:
        run_module("pkg")
    assert no_main.value.slug == "nothing-to-run" and "__main__" in str(no_main.value)
    with pytest.raises(UsageError) as no_submodule:
        run_module("pkg.nothing")
    assert no_submodule.value.slug == "nothing-to-run"
    assert "pkg.nothing" in str(no_submodule.value)
