"""Answers that try to instruct the judge who reads them.

Nothing is decided here: such an answer reaches the judge as quoted data like every other, and is listed for a person.
The kinds follow OWASP's description of direct prompt injection (LLM01:2025, Top 10 for LLM Applications) and the
attacks on judges of Raina et al. 2024, arXiv 2402.14016.
"""

from __future__ import annotations

import re
import unicodedata

_LOOKED_AT = 200_000  # characters
_JUDGE = r"(?:judge|grader|evaluator|examiner|assessor|reviewer|scorer|llm)"
_BEST = r"(?:the )?(?:maximum|max|highest|top|perfect|best)(?: possible)? (?:score|grade|rating|marks?|points)"
_TOP = rf"(?:full (?:marks?|score|points|credit)|{_BEST}|10/10|10 out of 10|100 ?%|1\.0|10|100)"
_GIVE = r"(?:give|award|assign|score|rate|grade|output|return|respond with)"
_OBJECT = r"(?:this|it|me|my|answer|response|solution|submission|score of|grade of|rating of)"
_TAG = r"(?:im_start|im_end|endoftext|eot_id|start_header_id|end_header_id|system|assistant|user|end)"
_KINDS = (
    (
        "asks to ignore the instructions",
        r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}"
        r"\b(?:rubric|instructions?|criteria|guidelines?|prompt|system message|scoring|reference)\b",
    ),
    (
        "asks for a score",
        rf"\b{_GIVE}\b[^.\n]{{0,30}}\b{_OBJECT}\b[^.\n]{{0,25}}{_TOP}(?![\d.]\d)"
        r"|\bscore (?:this )?(?:as )?10\b"
        r"|\b(?:give|award|assign)\b[^.\n]{0,20}\bfull (?:marks?|score|points|credit)\b",
    ),
    (
        "addresses the judge",
        rf"\b(?:dear|attention|note (?:to|for)|hey|hello|message (?:to|for))\W{{1,3}}(?:the )?(?:ai )?{_JUDGE}\b",
    ),
    ("gives the judge a role", rf"\byou are (?:now )?(?:the |a |an )?(?:\w+ )?{_JUDGE}\b"),
    ("writes a verdict", r"[\"']score[\"']\s*:\s*-?\d"),
    (
        "writes role tags",
        rf"<\|?{_TAG}\|>|</?(?:system|assistant|user|instructions?|rubric)>|\[/?inst\]|<</?sys>>"
        r"|(?:^|\n)[ #*]{0,8}(?:system|assistant)\s?:",
    ),
    (
        "writes delimiters",
        r"-{2,20}\s{0,5}(?:begin|end)\b[^\n]{0,60}|\b(?:begin|end) (?:of )?(?:answer|data|submission|rubric)\b",
    ),
)
_COMPILED = tuple((kind, re.compile(pattern)) for kind, pattern in _KINDS)


def attempts(answer: str) -> tuple[str, ...]:
    """In which ways an answer tries to instruct a judge; empty for an honest one.

    Letters are compared by what they look like under NFKC, without signs that nobody sees.
    """
    text = unicodedata.normalize("NFKC", answer[:_LOOKED_AT])
    text = "".join(sign for sign in text if unicodedata.category(sign) != "Cf").lower()
    return tuple(kind for kind, pattern in _COMPILED if pattern.search(text))
