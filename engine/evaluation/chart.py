"""recall@4 by corpus size as a picture: an SVG that stands alone, is read aloud, and is drawn alike everywhere."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import floor

from engine.evaluation.records import RecordedRun
from engine.evaluation.statistics import Interval
from engine.wire.metrics import CHECKPOINT, GROWTH, HEADLINE, STRETCH

SET = "retrieval"
LANGUAGES = {"ru": "Russian", "en": "English"}

SUBTITLE = "Share of questions with a right source among the first four; bars: 95% intervals"

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 62, 652, 64, 314
DODGE = 5
"""Pixels between a size and each language's point: intervals must not cover each other."""
LINE = 15
"""Pixels that a line of text takes."""

# A background of its own: a page in dark colours may show the picture of a reader who prefers light ones. The colours
# of the languages are those of Okabe and Ito, as in the console.
STYLE = """
text { font: 13px system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: #1d2733 }
.head { font-size: 16px; font-weight: 600 }
.faint { fill: #4d5a67; font-size: 12px }
.paper { fill: #ffffff }
.grid { stroke: #dde3e9 }
.target { stroke: #6b7682; stroke-width: 1.5; stroke-dasharray: 6 4 }
.line { fill: none; stroke-width: 2 }
.span { stroke-width: 1.5 }
.value { font-size: 12px; font-weight: 600 }
.ru { stroke: #0072b2 } .ru-fill { fill: #0072b2 }
.en { stroke: #b84f00 } .en-fill { fill: #b84f00 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6ebf0 }
  .faint { fill: #b4bfca }
  .paper { fill: #11161c }
  .grid { stroke: #2c3743 }
  .target { stroke: #93a0ad }
  .ru { stroke: #56b4e9 } .ru-fill { fill: #56b4e9 }
  .en { stroke: #f08c45 } .en-fill { fill: #f08c45 }
}
"""


@dataclass(frozen=True)
class Step:
    """The headline figure of one language after one step of growth."""

    documents: int
    lang: str
    value: float
    ci: Interval
    scored: int
    run: str


def growth_steps(runs: Iterable[RecordedRun]) -> tuple[Step, ...]:
    """What the runs labelled `growth` say, by language and rising size; of two runs of one size the newer one."""
    found: dict[tuple[str, int], Step] = {}
    for run in sorted(runs, key=lambda run: (run.head.started_at, run.head.id)):
        if run.head.label != GROWTH or run.head.status != "done":
            continue
        for row in run.metrics:
            known = row.set_name == SET and row.metric == HEADLINE and row.lang in LANGUAGES
            if known and row.value is not None and row.ci is not None:
                size = run.head.corpus.documents
                found[row.lang, size] = Step(size, row.lang, row.value, row.ci, row.n_scored, run.head.short_id)
    return tuple(step for lang in LANGUAGES for (of, _), step in sorted(found.items()) if of == lang)


def recall_chart(steps: Sequence[Step]) -> str:
    """The picture of one step or more."""
    title = f"{HEADLINE} as the corpus grows"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}" role="img" aria-labelledby="title desc">',
            f'<title id="title">{title}</title>',
            f'<desc id="desc">{escape(description(steps))}</desc>',
            f"<style>{STYLE}</style>",
            f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="6"/>',
            _text(LEFT, 28, title, "head"),
            _text(LEFT, 48, SUBTITLE, "faint"),
            *_Plot(steps).parts(),
            "</svg>\n",
        ]
    )


def description(steps: Sequence[Step]) -> str:
    """Everything that the picture says, in words."""
    targets = f"Targets: checkpoint {CHECKPOINT:.2f}, stretch {STRETCH:.2f}."
    told = [
        f"{LANGUAGES[step.lang]}, {step.documents} documents: {step.value:.3f} "
        f"({step.ci.low:.3f} to {step.ci.high:.3f}, {step.scored} questions)."
        for step in steps
    ]
    return " ".join([*told, targets])


class _Plot:
    """Scales and marks; the vertical one ends a little below what is lowest, so that both targets are in sight."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps
        self.sizes = sorted({step.documents for step in steps})
        lowest = min([CHECKPOINT, *(step.ci.low for step in steps)])
        # In twentieths, which are counted exactly.
        self.bottom = max(0, floor(lowest * 20 + 1e-9) - 1)

    def x(self, documents: int) -> float:
        first, last = self.sizes[0], self.sizes[-1]
        if first == last:
            return (LEFT + RIGHT) / 2
        return LEFT + 34 + (documents - first) / (last - first) * (RIGHT - LEFT - 68)

    def y(self, value: float) -> float:
        low = self.bottom / 20
        return BOTTOM - (value - low) / (1 - low) * (BOTTOM - TOP - 16)

    def parts(self) -> list[str]:
        parts = [*self._grid(), *self._targets()]
        series = {lang: [step for step in self.steps if step.lang == lang] for lang in LANGUAGES}
        shown = [marks for marks in series.values() if marks]
        return [*parts, *self._sizes(), *(part for marks in shown for part in self._series(marks)), *self._ends(shown)]

    def _grid(self) -> list[str]:
        every = 1 if self.bottom >= 12 else 2 if self.bottom >= 4 else 4
        parts = []
        for twentieth in range(20, self.bottom - 1, -every):
            y = self.y(twentieth / 20)
            parts += [_line(LEFT, y, RIGHT, y, "grid"), _text(LEFT - 8, y + 4, f"{twentieth / 20:.2f}", "faint", "end")]
        return parts

    def _targets(self) -> list[str]:
        parts = []
        for name, value in (("checkpoint", CHECKPOINT), ("stretch target", STRETCH)):
            y = self.y(value)
            parts += [_line(LEFT, y, RIGHT, y, "target"), _text(RIGHT + 8, y + 4, name, "faint")]
        return parts

    def _sizes(self) -> list[str]:
        parts = []
        for size in self.sizes:
            scored = [str(step.scored) for step in self.steps if step.documents == size]
            x = self.x(size)
            parts += [
                _line(x, BOTTOM, x, BOTTOM + 5, "grid"),
                _text(x, BOTTOM + 22, str(size), "", "middle"),
                _text(x, BOTTOM + 22 + LINE, "+".join(scored), "faint", "middle"),
            ]
        middle = (LEFT + RIGHT) / 2
        below = "documents in the corpus (below each: Russian + English questions)"
        return [*parts, _text(middle, BOTTOM + 32 + 2 * LINE, below, "faint", "middle")]

    def _series(self, steps: Sequence[Step]) -> list[str]:
        lang = steps[0].lang
        places = [(self._at(step), self.y(step.value)) for step in steps]
        parts = []
        if len(places) > 1:
            path = " ".join(f"{_n(x)},{_n(y)}" for x, y in places)
            parts.append(f'<polyline class="line {lang}" points="{path}"/>')
        for step, (x, y) in zip(steps, places, strict=True):
            parts += [_line(x, self.y(step.ci.low), x, self.y(step.ci.high), f"span {lang}"), _point(lang, x, y)]
            above = self._is_higher(step)
            edge = self.y(step.ci.high) - 7 if above else self.y(step.ci.low) + LINE
            # The names of the last values say them already.
            if step is not steps[-1]:
                parts.append(_text(x, edge, f"{step.value:.3f}", f"value {lang}-fill", "middle"))
        return parts

    def _ends(self, series: Sequence[Sequence[Step]]) -> list[str]:
        """Name and last value of each line at its end; two that would touch are set apart."""
        names = list(LANGUAGES)
        marks = [(self.y(steps[-1].value) + 4, steps[-1]) for steps in series]
        last = sorted(marks, key=lambda mark: (mark[0], names.index(mark[1].lang)))
        if len(last) == 2 and last[1][0] - last[0][0] < LINE:
            middle = (last[0][0] + last[1][0]) / 2
            last = [(middle - LINE / 2, last[0][1]), (middle + LINE / 2, last[1][1])]
        return [
            _text(
                self.x(step.documents) + DODGE + 12,
                y,
                f"{LANGUAGES[step.lang]} {step.value:.3f}",
                f"value {step.lang}-fill",
            )
            for y, step in last
        ]

    def _at(self, step: Step) -> float:
        return self.x(step.documents) + (-DODGE if step.lang == next(iter(LANGUAGES)) else DODGE)

    def _is_higher(self, step: Step) -> bool:
        others = [one for one in self.steps if one.documents == step.documents and one.lang != step.lang]
        return all((step.value, step.lang) > (one.value, one.lang) for one in others)


def _point(lang: str, x: float, y: float) -> str:
    """A circle or a square: colour is not the only thing that tells the languages apart."""
    if lang == next(iter(LANGUAGES)):
        return f'<circle class="{lang}-fill" cx="{_n(x)}" cy="{_n(y)}" r="4.5"/>'
    return f'<rect class="{lang}-fill" x="{_n(x - 4)}" y="{_n(y - 4)}" width="8" height="8"/>'


def _line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line class="{style}" x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"/>'


def _text(x: float, y: float, words: str, style: str, anchor: str = "start") -> str:
    return f'<text class="{style}" x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}">{escape(words)}</text>'


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
