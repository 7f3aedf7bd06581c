"""Checks made-up programs against Python's own line tracing: no line is said to have run that did not, or the other way
round.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

from stillframe.reading.still import open_still

FUNCTIONS = 60
TRACED = """
import json, runpy, sys
lines = set()
def local(frame, event, arg):
    if event == "line":
        lines.add(frame.f_lineno)
    return local
def tracer(frame, event, arg):
    return local if frame.f_code.co_filename == sys.argv[1] else None
sys.settrace(tracer)
try:
    runpy.run_path(sys.argv[1], run_name="__main__")
finally:
    sys.settrace(None)
    print(json.dumps(sorted(lines)))
"""
"""The statements a program is made of; `fails` are those that raise for some of the arguments."""
SIMPLE = ["pass", "o.n += 1", "x = n + 1", "y = [1, 2][n % 4]", "del o.n; o.n = 1", "x, y = n, x", "o.items[n % 3] = n"]
SIMPLE += ["import json", "global G", "boom(n)", "x = boom(n) or 2", "assert n != 3", "print(end='')", "x += o.n", "o.m = n"]
CONDITIONS = ["n % 2", "n > 1 and x", "not n or o.n > 3", "True", "x == 2", "n"]


def block(random_: random.Random, depth: int, in_loop: bool) -> list[str]:
    lines = []
    for _ in range(random_.randint(1, 4)):
        kind = random_.choice(["simple"] * 5 + ["if", "for", "while", "try", "with", "jump", "def"] * (depth < 3))
        has_blocks = kind not in ("simple", "jump", "def")
        inner = ["    " + line for line in block(random_, depth + 1, in_loop or kind in ("for", "while"))] if has_blocks else []
        other = ["    " + line for line in block(random_, depth + 1, in_loop)] if has_blocks else []
        if kind == "simple":
            lines.append(random_.choice(SIMPLE).replace("global G", "pass"))
        elif kind == "if":
            lines += [f"if {random_.choice(CONDITIONS)}:", *inner]
            lines += ["else:", *other] if random_.random() < 0.5 else []
        elif kind == "for":
            lines += [f"for i in range({random_.choice(['n', '0', '2'])}):", *inner]
            lines += ["else:", *other] if random_.random() < 0.3 else []
        elif kind == "while":
            lines += ["while True:", "    o.turns -= 1", "    if o.turns < 0:", "        break", *inner]
        elif kind == "try":
            lines += ["try:", *inner, "except (ValueError, AttributeError):", *other]
            lines += ["else:", "    pass"] if random_.random() < 0.3 else []
            lines += ["finally:", "    o.n = 2"] if random_.random() < 0.3 else []
        elif kind == "with":
            lines += ["with contextlib.suppress(IndexError):", *inner]
        elif kind == "def":
            lines += ["def g(k):", "    pass", "    return k", "x = g(n)"]
        else:
            lines.append(
                random_.choice(["return x", "return n and x", "raise ValueError(n)", *(["break", "continue"] * in_loop)])
            )
    return lines


def program(seed: int) -> str:
    random_ = random.Random(seed)
    lines = ["import contextlib", "", "class O:", "    def __init__(self):"]
    lines += ["        self.n, self.turns, self.items = 1, 6, [0, 1]", ""]
    lines += ["def boom(n):", "    if n == 2:", "        raise ValueError(n)", "    return n", ""]
    for number in range(FUNCTIONS):
        lines += [f"def f{number}(n, o):", "    x = y = n", *("    " + line for line in block(random_, 0, False)), ""]
    lines += [f"for f in [{', '.join(f'f{number}' for number in range(FUNCTIONS))}]:", "    for n in range(random_calls):"]
    lines += ["        with contextlib.suppress(Exception):", "            f(n, O())"]
    return "\n".join(lines).replace("random_calls", str(random_.randint(1, 4))) + "\n"


def test_made_up_programs(tmp_path: Path, run_environment: dict[str, str]) -> None:
    told: dict[str, int] = {"ran": 0, "not_run": 0, "unknown": 0}
    for seed in range(6):
        script, recording = tmp_path / f"made{seed}.py", tmp_path / f"made{seed}.still"
        script.write_text(program(seed))
        command = [sys.executable, "-m", "stillframe", "run", "-o", str(recording), str(script)]
        subprocess.run(command, check=True, capture_output=True, env=run_environment, timeout=120)
        trace = [sys.executable, "-c", TRACED, str(script)]
        done = subprocess.run(trace, check=True, capture_output=True, text=True, env=run_environment, timeout=120)
        lines = set(json.loads(done.stdout.splitlines()[-1]))
        with open_still(recording) as still:
            for function in still.recording.functions.values():
                if not function.qualname.startswith("f") or "<" in function.qualname:
                    continue
                (source,) = still.source(function.qualname)
                for line in source.lines[1:]:
                    text = line.text.strip()
                    if line.kind != "code" or text.rstrip(":") in ("else", "try", "finally") or text.startswith("except"):
                        continue
                    told[line.status] += 1
                    if text == "while True:" or text.startswith("if True") or text == "pass" and line.status == "ran":
                        continue  # compiled to nothing, or not always a line to Python
                    if line.status != "unknown":
                        where = f"seed {seed}, {function.qualname}, line {line.line}: {line.text}"
                        assert (line.line in lines) == (line.status == "ran"), where
    assert told["unknown"] < 0.03 * sum(told.values()), told
    assert told["not_run"] > 100
