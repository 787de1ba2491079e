from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pyarrow as pa
import pytest

from rlchecks.report.page import render
from rlchecks.run import RunLog
from rlchecks.schema import COMPLETIONS

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=https://example.org/x onerror=alert(1)>',
    "' onmouseover='alert(1)' x='",
    "</title></style></svg><svg onload=alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "]]><!--<iframe src=//example.org>-->",
    "&lt;script&gt;&#60;b&#62;",
    "{{ 7 * 7 }}{% raw %}",
    "\x1b[2J\x1b]8;;https://example.org\x07x\u202e\u0000\ud800",
    "<style>@import 'https://example.org/x.css'</style>",
]
VOID = {"meta", "link", "img", "br", "hr", "input"}


class Shape(HTMLParser):
    """Counts elements with their attribute names, keeps the attributes' values, and checks the nesting."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: Counter[tuple[str, tuple[str, ...]]] = Counter()
        self.values: list[tuple[str, str]] = []
        self.text = ""
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag, tuple(sorted(name for name, _ in attrs))] += 1
        self.values += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag, tuple(sorted(name for name, _ in attrs))] += 1
        self.values += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def shape(page: str) -> Shape:
    parser = Shape()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


def poisoned(value: Any, hostile: str, *, keys: bool = False) -> Any:
    """Every text of a document replaced by hostile text, and every key of its evidence too."""
    if isinstance(value, dict):
        return {
            (hostile if keys else key): poisoned(item, hostile, keys=key == "evidence") for key, item in value.items()
        }
    if isinstance(value, list):
        return [poisoned(item, hostile) for item in value]
    return hostile if isinstance(value, str) else value


def poisoned_run(run: RunLog, hostile: str) -> RunLog:
    encodable = hostile.encode("utf-8", "replace").decode()
    steps = run.steps.to_pylist()
    for row in steps:
        row["extra"] = [("reward/" + encodable, 0.3), ("reward/format", 0.6)]
    answers = run.completions.to_pylist()
    for number, row in enumerate(answers):
        row["prompt"], row["completion"] = f"{number % 6} {encodable}", encodable
        row["rewards"] = [(encodable, number / 10)]
    facts = {"max_completion_length": hostile, "reward_std_semantics": hostile}
    return RunLog(
        hostile,
        hostile,
        hostile,
        hostile,
        pa.Table.from_pylist(steps, run.steps.schema),
        pa.Table.from_pylist(answers, COMPLETIONS),
        run.validation,
        framework_version=hostile,
        planned_steps=40,
        facts=facts,
    )


@pytest.mark.parametrize("hostile", HOSTILE)
def test_text_from_outside_adds_no_element_and_no_attribute(
    hostile: str, document: dict[str, Any], run: RunLog, signals: dict[str, Any]
) -> None:
    # Plain text in the same places gives the page its shape.
    plain = shape(render(poisoned(document, "plain text"), poisoned_run(run, "plain text"), signals))
    page = render(poisoned(document, hostile), poisoned_run(run, hostile), signals)
    found = shape(page)
    assert found.elements.keys() == plain.elements.keys()
    texts = {name: count for name, count in found.elements.items() if name[0] not in ("span", "p")}
    assert texts == {name: count for name, count in plain.elements.items() if name[0] not in ("span", "p")}
    page.encode()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", page)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_the_page_has_no_script_and_fetches_nothing(
    hostile: str, document: dict[str, Any], run: RunLog, signals: dict[str, Any]
) -> None:
    found = shape(render(poisoned(document, hostile), poisoned_run(run, hostile), signals))
    tags = {tag for tag, _ in found.elements}
    assert not tags & {"script", "img", "iframe", "object", "embed", "link", "base", "form", "input", "use", "image"}
    for name, value in found.values:
        assert not name.startswith("on")
        assert name not in ("src", "srcset", "style", "action", "xlink:href", "background")
        assert name != "href" or re.fullmatch(r"#[a-z-]+", value)
    policy = next(value for name, value in found.values if value.startswith("default-src"))
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")


def test_the_styles_fetch_nothing(document: dict[str, Any], run: RunLog) -> None:
    style = re.search(r"<style>(.*?)</style>", render(document, run, {}), re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_hostile_text_is_shown_as_text(document: dict[str, Any], run: RunLog) -> None:
    document["run"]["name"] = "<script>alert(1)</script>"
    page = render(document, run, {})
    assert "<script" not in page
    assert "<script>alert(1)</script>" in shape(page).text


def test_ids_on_the_page_are_unique(document: dict[str, Any], run: RunLog) -> None:
    ids = [value for name, value in shape(render(document, run, {})).values if name == "id"]
    assert len(ids) == len(set(ids)) > 10


def words(page: str) -> str:
    return re.sub(r"\s+", " ", shape(page[page.index("<main>") : page.index("</main>") + 7]).text)


def test_the_page_says_first_what_matters_most(document: dict[str, Any], run: RunLog, signals: dict[str, Any]) -> None:
    text = words(render(document, run, signals))
    order = [
        "Overridden by somebody.",
        "REJECT",
        "Reward hacking: the training grader's score rose while a different judge's fell.",
        "What to do",
        "-0.358 [-0.396, -0.319]",
        "Reasons",
        "Gap of the gains",
        "1 reason in favour",
        "The grader gained, the judge lost",
        "The reward rose",
        "Mean answer length",
        "answer 5",
        "Held-out comparison",
        "the scores never differ",
        "it is 3",
        "training_health",
        "run read from",
        "0f0f0f0f",
    ]
    places = [text.index(phrase) for phrase in order]
    assert places == sorted(places)


def test_findings_with_an_onset_get_the_letter_that_marks_them_in_the_charts(
    document: dict[str, Any], run: RunLog
) -> None:
    page = render(document, run, {})
    assert "<b>A</b> from step 12" in page
    # Five charts over steps; reward against KL has no steps.
    assert page.count('class="tag-text" text-anchor="middle">A<') == 5


def test_without_an_override_there_is_no_banner(document: dict[str, Any], run: RunLog) -> None:
    document["override"] = None
    assert "Overridden" not in words(render(document, run, {}))


@pytest.mark.parametrize("decision", [None, "promote", "", "PROMOTE ", ["PROMOTE"], {"PROMOTE": 1}])
def test_what_is_no_decision_never_looks_like_a_pass(decision: Any, document: dict[str, Any], run: RunLog) -> None:
    page = render(document | {"decision": decision}, run, {})
    assert "<h1>NO DECISION</h1>" in page
    assert '<body class="hold">' in page


@pytest.mark.parametrize(
    "key", ["run", "judge", "graders", "reasons", "findings", "comparison", "checks", "provenance"]
)
@pytest.mark.parametrize("value", [None, [], {}, "text", 3, [None, "x", 3], [[]]])
def test_a_damaged_document_still_gives_a_page(key: str, value: Any, document: dict[str, Any], run: RunLog) -> None:
    assert "<h1>REJECT</h1>" in render(document | {key: value}, run, {})


def test_an_empty_document_is_no_pass(make_run: Callable[..., RunLog]) -> None:
    text = words(render({}, make_run([]), {}))
    for phrase in ("NO DECISION", "No reason is recorded.", "No finding is recorded.", "no held-out comparison"):
        assert phrase in text


def test_a_reason_with_an_unknown_effect_counts_against(document: dict[str, Any], run: RunLog) -> None:
    document["reasons"] = [{"code": "x", "title": "Something new", "effect": "celebrate", "status": "passed"}]
    text = words(render(document, run, {}))
    assert "hold Something new" in text
    assert "in favour" not in text


def test_missing_numbers_are_named_and_never_zero(document: dict[str, Any], run: RunLog) -> None:
    document["comparison"] = {"parts": [{"judge": "j", "role": "decisive", "reason": "too few"}]}
    text = words(render(document, run, {}))
    assert "Held-out differenceundefined" in text
    assert "Training rewardnot measured" in text


def test_the_grader_stands_beside_the_judge_of_the_same_decoding(document: dict[str, Any], run: RunLog) -> None:
    assert "scored twice" in render(document, run, {})
    document["comparison"]["parts"][2]["decoding"] = "greedy"
    assert "scored twice" not in render(document, run, {})


def test_a_usual_page_is_small(document: dict[str, Any], trl_run: Callable[[str], RunLog]) -> None:
    assert len(render(document, trl_run("hack-lazy-s30"), {}).encode()) < 150_000


def test_a_long_run_with_long_texts_stays_small(document: dict[str, Any], make_run: Callable[..., RunLog]) -> None:
    names = ("reward", "reward_std", "zero_std_fraction", "clipped_ratio", "mean_length", "kl")
    rows = [{"step": s, **dict.fromkeys(names, s * 7919 % 1000 / 1000)} for s in range(20_000)]
    document["findings"][0]["meaning"] = "x" * 1_000_000
    assert len(render(document, make_run(rows), {}).encode()) < 300_000
