"""Checks how costs are measured and told: the budgets, the arithmetic of ratios, the lines, and the exit code.

Nothing here takes time to measure: clocks are made up, and so is what they time.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))  # the benchmarks are no part of the package

from benchmarks import __main__ as command  # noqa: E402
from benchmarks import apart, report  # noqa: E402
from benchmarks.budgets import BUDGETS, Measured, shown, verdict  # noqa: E402
from benchmarks.clock import Clock, Span, Spread, spread  # noqa: E402
from benchmarks.contest import BARE, Contender, Contest, Course, Ready, always, schedule  # noqa: E402
from benchmarks.peers import PEERS  # noqa: E402

# The rows of the design's table of budgets, each as the limits that its keys have. One row may be measured as two.
DESIGN = {
    "every site in scope, metadata only, tiny llama forward": {"metadata": "1.25x"},
    "the same with every value's bytes": {"bytes": "2x"},
    "wide model (hidden 1024, 8 layers, B=4, T=256), default policy": {"wide": "1.15x"},
    "tiny generate of 16 tokens; tiny training step, all values": {"generate": "2.2x", "train": "2.2x"},
    "a live stop that is never reached": {"stop": "1.03x"},
    "weaving a model's files the first time; from the cache": {"weave-first": "0.3s", "weave-cached": "0.05s"},
    "`stillframe read llama`, cold, whole process": {"read": "1.3x"},
    "DeepSeek-V3 at full size, recorded and read": {"full-size": "6s"},
    "opening a recording of 100,000 ops, first screen": {"open": "1s"},
    "cost per op as layers and tokens grow": {"layers": "20%"},
}


# ---- budgets


def test_every_row_of_the_design_has_its_budget_and_no_other() -> None:
    wanted = {key: limit for row in DESIGN.values() for key, limit in row.items()}
    assert {budget.key: f"{budget.limit:g}{budget.unit}" for budget in BUDGETS} == wanted


def test_every_budget_is_measured_or_says_why_not() -> None:
    measured = [key for keys, _ in command.MEASURES for key in keys]
    assert len(measured) == len(set(measured))
    assert set(measured) == {budget.key for budget in BUDGETS if not budget.later}
    assert {budget.key for budget in BUDGETS if budget.later} == {"stop", "full-size"}


@pytest.mark.parametrize(
    ("low", "median", "high", "said"),
    [
        (1.0, 1.1, 1.2, "met"),
        (1.0, 1.24, 1.25, "met"),
        (1.25, 1.25, 1.25, "met"),  # at the limit, all of it
        (1.2, 1.25, 1.3, "met, within the noise"),
        (1.2, 1.26, 1.3, "missed, within the noise"),
        (1.25, 1.26, 1.3, "missed, within the noise"),
        (1.251, 1.26, 1.3, "missed"),
    ],
)
def test_the_verdict_goes_by_the_median(low: float, median: float, high: float, said: str) -> None:
    assert verdict(1.25, Spread(low, median, high, 9)) == said


def test_numbers_are_shown_in_their_unit() -> None:
    assert [shown(1.254, "x"), shown(0.0494, "s"), shown(19.6, "%")] == ["1.25×", "0.049 s", "20 %"]


# ---- clocks


class MadeUp:
    """Three clocks in one: what `pass_by` says has gone by, has."""

    def __init__(self) -> None:
        self.cpu = self.own = self.wall = 100.0

    def pass_by(self, cpu: float, own: float, wall: float) -> None:
        self.cpu, self.own, self.wall = self.cpu + cpu, self.own + own, self.wall + wall

    def clock(self) -> Clock:
        return Clock(lambda: self.cpu, lambda: self.own, lambda: self.wall)


def test_a_span_has_what_each_clock_went_on_by() -> None:
    time = MadeUp()
    span = time.clock().time(lambda: time.pass_by(3.0, 2.0, 5.0))
    assert span == Span(3.0, 2.0, 5.0)
    assert span / 2 == Span(1.5, 1.0, 2.5)


def test_what_is_typical_is_the_median_and_its_quartiles() -> None:
    assert spread([5.0]) == Spread(5.0, 5.0, 5.0, 1)
    assert spread([4.0, 1.0, 3.0, 2.0, 5.0]) == Spread(2.0, 3.0, 4.0, 5)
    assert spread([1.0, 2.0]).scaled(10) == Spread(12.5, 15.0, 17.5, 2)


# ---- contests


class Work:
    """A bare call and recorders of it, on made-up clocks. What happens, in order, is in `story`."""

    def __init__(self, bare: float = 1.0, drift: float = 0.0) -> None:
        self.time, self.story = MadeUp(), []
        self._bare, self._drift = bare, drift

    def bare(self) -> None:
        self.story.append(BARE)
        self.time.pass_by(self._bare, self._bare, self._bare)
        self._bare += self._drift

    def recorder(self, name: str, call: float, thread: float = 0.0, settling: float = 0.0, on: float = 0.0) -> Contender:
        """Seconds: of a call by the calling thread, and by another; to settle what a call left behind; to turn it on."""
        left = 0

        def recorded() -> None:
            nonlocal left
            left += 1
            self.story.append(name)
            self.time.pass_by(call + thread, call, call)

        def settle() -> None:
            nonlocal left
            self.time.pass_by(settling * left, 0.0, settling * left)
            left = 0

        @contextlib.contextmanager
        def turned_on() -> Iterator[Ready]:
            self.time.pass_by(on, on, on)
            yield Ready(recorded, settle)
            self.time.pass_by(on, on, on)

        return Contender(name, turned_on)

    def run(self, *contenders: Contender, repeats: int = 3, seconds: float = 10.0) -> dict[str, Course]:
        return Contest(self.bare, contenders, seconds, clock=self.time.clock()).run(repeats)


def test_the_ratio_counts_every_thread_and_no_start() -> None:
    work = Work(bare=2.0)
    course = work.run(work.recorder("one", call=3.0, thread=1.0, on=1000.0))["one"]
    assert (course.cpu, course.own, course.wall) == ([2.0] * 3, [1.5] * 3, [1.5] * 3)
    assert course.ratio() == Spread(2.0, 2.0, 2.0, 3)
    assert course.added() == Spread(2.0, 2.0, 2.0, 3)  # seconds a call


def test_work_left_behind_counts_once_and_only_that_of_the_block() -> None:
    """A block has two calls here, and two come before it: a settling of four calls' work would give a ratio of 3."""
    work = Work(bare=1.0)
    course = work.run(work.recorder("one", call=1.0, settling=1.0), repeats=1, seconds=2.0)["one"]
    assert course.cpu == [2.0]


def test_the_bare_call_is_the_mean_of_before_and_after() -> None:
    """A machine that slows down evenly, between blocks of one call, shows as no cost."""
    work = Work(bare=10.0, drift=1.0)

    @contextlib.contextmanager
    def on() -> Iterator[Ready]:
        yield Ready(lambda: work.time.pass_by(12.5, 12.5, 12.5))

    course = work.run(Contender("same", on), repeats=1, seconds=1.0)["same"]
    assert [span.cpu for span in course.bare] == [12.5] and course.cpu == [1.0]  # 10 and 11 went by before the first block


def test_blocks_are_interleaved_and_each_repeat_begins_with_another() -> None:
    order = list(schedule(["a", "b", "c"], 3))
    assert order[::2] == [BARE] * 10
    assert order[1::2] == ["a", "b", "c", "b", "c", "a", "c", "a", "b"]


def test_warming_up_is_not_in_the_block() -> None:
    work = Work()
    slow_at_first = iter([50.0, 40.0])

    @contextlib.contextmanager
    def on() -> Iterator[Ready]:
        yield Ready(lambda: work.time.pass_by(*[next(slow_at_first, 2.0)] * 3))

    assert work.run(Contender("one", on), repeats=1, seconds=4.0)["one"].cpu == [2.0]


def test_a_contender_that_raises_is_told_and_stops_no_other() -> None:
    work = Work()

    @contextlib.contextmanager
    def never_on() -> Iterator[Ready]:
        raise ImportError("no module of that name\nand more")
        yield

    @contextlib.contextmanager
    def bad_end() -> Iterator[Ready]:
        yield Ready(lambda: work.time.pass_by(1.0, 1.0, 1.0))
        raise ValueError("it recorded nothing")

    courses = work.run(Contender("absent", never_on), work.recorder("good", 3.0), Contender("empty", bad_end))
    assert courses["absent"].failed == "ImportError: no module of that name"
    assert courses["empty"].failed == "ValueError: it recorded nothing"
    assert courses["empty"].cpu == []  # found out after the block: what was timed is not a result
    assert courses["good"].cpu == [3.0] * 3 and not courses["good"].failed


def test_a_recorder_that_keeps_nothing_is_found_out() -> None:
    with always(lambda: ["event"], len) as ready:
        assert ready.call() == ["event"]
    with pytest.raises(ValueError, match="recorded nothing"), always(list, len):
        pass


def test_a_block_has_as_many_calls_as_its_time_allows() -> None:
    work = Work(bare=0.5)
    contest = Contest(work.bare, [], seconds=10.0, most=12, clock=work.time.clock())
    assert contest.calls_in(work.bare) == 12
    contest.most = 100
    assert contest.calls_in(work.bare) == 20
    contest.seconds = 0.1
    assert contest.calls_in(work.bare) == 1


def test_a_course_comes_back_whole_from_another_process() -> None:
    course = Course([1.5], [1.25], [2.0], [Span(3.0, 2.5, 4.0)], [Span(2.0, 2.0, 2.0)])
    assert apart._read(json.loads(json.dumps(asdict(course)))) == course


def test_a_process_that_fails_is_a_recorder_that_failed() -> None:
    assert apart.course_of("made up", 1).failed.startswith("exit code 1: ValueError: there is no recorder called")


# ---- what is printed

FAST, SLOW = Measured("metadata", Spread(1.1, 1.2, 1.3, 9), ("a note",)), Measured("bytes", Spread(2.4, 2.5, 2.6, 9))


def cells(lines: list[str], first: str) -> list[str]:
    """The cells of the row of a table that begins so."""
    (row,) = [line for line in lines if line.startswith(f"| {first}")]
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_lines_of_budgets() -> None:
    measured, failed = {"metadata": FAST, "bytes": SLOW}, {"wide": "RuntimeError: out of memory"}
    lines = report.budget_lines(measured, failed, ["metadata", "bytes", "wide", "stop", "train"])
    assert cells(lines, "every site")[1:] == ["≤ 1.25×", "1.20× (1.10× to 1.30×)", "met, within the noise"]
    assert cells(lines, "the same")[1:] == ["≤ 2×", "2.50× (2.40× to 2.60×)", "missed"]
    assert cells(lines, "wide")[1:] == ["≤ 1.15×", "failed: RuntimeError: out of memory", "not measured"]
    assert cells(lines, "a live stop")[1:] == ["≤ 1.03×", "not yet: there are no live stops yet", ""]
    assert cells(lines, "tiny training")[1:] == ["≤ 2.2×", "not measured", ""]
    assert not [line for line in lines if line.startswith("| opening")]
    assert "  a note" in lines


def test_lines_of_other_units() -> None:
    measured = {
        "open": Measured("open", Spread(0.8, 0.9, 0.95, 3)),
        "layers": Measured("layers", spread([23.0])),
    }
    lines = report.budget_lines(measured, {}, ["open", "layers"])
    assert cells(lines, "opening")[1:] == ["≤ 1 s", "0.900 s (0.800 s to 0.950 s)", "met"]
    assert cells(lines, "cost per event")[1:] == ["±20 %", "23 %", "missed"]


def test_no_budget_asked_for_gives_no_table() -> None:
    assert report.budget_lines({}, {}, ["peers"]) == []


def test_lines_of_recorders(monkeypatch: pytest.MonkeyPatch) -> None:
    light, heavy, broken = (Course([value] * 3, [value] * 3, [value] * 3) for value in (1.5, 20.0, 3.0))
    broken.failed = "ValueError: it recorded nothing"
    monkeypatch.setattr(type(PEERS[0]), "installed", property(lambda peer: peer.name != "snoop"))
    lines = report.peer_lines({"birdseye": heavy, "nnsight": broken, "TorchFunctionMode": light, "stillframe, metadata": light})
    names = [line.split("|")[1].strip() for line in lines]
    assert names[2:5] == ["TorchFunctionMode", "stillframe, metadata", "birdseye"]  # lightest first
    assert cells(lines, "birdseye")[1:3] == ["20.00×", "20.00 to 20.00"]
    assert cells(lines, "nnsight")[1:] == ["failed", "", "", "ValueError: it recorded nothing"]
    assert cells(lines, "snoop")[1:] == ["not installed", "", "", "pip install snoop"]
    assert names.count("nnsight") == 1


def test_tables_have_one_width() -> None:
    lines = report.table(("a", "long head"), [("longer cell", "b"), ("×", "—")])
    assert len({len(line) for line in lines}) == 1


# ---- the command


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """The command with other measurements; gives its exit code and what it printed."""
    monkeypatch.setattr(report, "machine", lambda: {"cores": "2"})

    def run(words: list[str], *found: Measured | Exception, courses: dict[str, Course] | None = None) -> tuple[int, str]:
        def measure_one(one: Measured | Exception) -> Callable[[int], list[Measured]]:
            def measure(repeats: int) -> list[Measured]:
                if isinstance(one, Exception):
                    raise one
                return [one]

            return measure

        keys = ["wide" if isinstance(one, Exception) else one.key for one in found]
        monkeypatch.setattr(
            command, "MEASURES", tuple(((key,), measure_one(one)) for key, one in zip(keys, found, strict=True))
        )
        monkeypatch.setattr(command, "course_of", lambda name, repeats: (courses or {}).get(name, Course(failed="not tried")))
        code = command.main([*words, "--quick"])
        return code, capsys.readouterr().out

    return run


def test_exit_code_of_budgets_met(run: Callable[..., tuple[int, str]]) -> None:
    code, text = run(["--only", "metadata"], FAST)
    assert code == 0 and "1.20×" in text and "cores: 2" in text


def test_exit_code_of_a_budget_missed(run: Callable[..., tuple[int, str]]) -> None:
    code, text = run(["--only", "metadata", "bytes"], FAST, SLOW)
    assert code == 1 and "missed" in text


def test_exit_code_of_a_measurement_that_failed(run: Callable[..., tuple[int, str]]) -> None:
    """The others are measured all the same."""
    code, text = run(["--only", "wide", "metadata"], RuntimeError("no memory"), FAST)
    assert code == 1 and "failed: RuntimeError: no memory" in text and "1.20×" in text


def test_exit_code_of_recorders(run: Callable[..., tuple[int, str]]) -> None:
    """Another recorder's failure is told; only ours is a failure of the measurement."""
    good = Course([1.5], [1.5], [1.5])
    code, text = run(["--only", "peers"], courses=dict.fromkeys(apart.OURS, good))
    assert code == 0 and "not tried" in text
    code, text = run(["--only", "peers"], courses={"stillframe, metadata": good})
    assert code == 1


def test_what_was_measured_is_written_as_json(run: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    code, _ = run(["--only", "metadata", "bytes", "wide", "--json", str(path)], FAST, SLOW, RuntimeError("no memory"))
    data = json.loads(path.read_text(encoding="utf-8"))
    assert code == 1
    assert {key: row["verdict"] for key, row in data["budgets"].items()} == {
        "metadata": "met, within the noise",
        "bytes": "missed",
    }
    assert math.isclose(data["budgets"]["bytes"]["median"], 2.5) and data["failed"] == {"wide": "RuntimeError: no memory"}
    assert set(data["not_yet"]) == {"stop", "full-size"}


def test_a_name_that_nothing_measures_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["--only", "speed"])
    assert ended.value.code == 2 and "speed" in capsys.readouterr().err
