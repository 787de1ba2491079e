"""Write the Inspect AI logs of the tests: ``python inspect_logs.py DIRECTORY``, outside of any repository.

The committed ones are by inspect_ai 0.3.285. The mock models answer sums; the checkpoint tells how many rightly.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import tiktoken
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, ModelOutput, get_model
from inspect_ai.scorer import Score, Scorer, Target, match, mean, model_graded_qa, scorer
from inspect_ai.solver import TaskState


class _Words:
    """Instead of the tokeniser, which would be downloaded."""

    def encode(self, text: str, **_: Any) -> list[str]:
        return text.split()


tiktoken.get_encoding = tiktoken.encoding_for_model = lambda name: _Words()

QUESTIONS = 4


def answering(right: int) -> Any:
    def answer(messages: Any, *_: Any) -> ModelOutput:
        text = messages[-1].text
        if "GRADE" in text:
            return ModelOutput.from_content("mockllm/model", "GRADE: C")
        number = int(re.search(r"What is (\d+)", text)[1])
        return ModelOutput.from_content("mockllm/model", str(number + 1 if number < right else 0))

    return answer


def grading(unreadable: int) -> Any:
    """Grade as the rule does, but for one question, whose grade cannot be read."""

    def grade(messages: Any, *_: Any) -> ModelOutput:
        text = messages[-1].text
        number = int(re.search(r"What is (\d+)", text)[1])
        given = re.search(r"\[Submission\]: (\d+)", text)[1]
        verdict = "no idea" if number == unreadable else f"GRADE: {'C' if given == str(number + 1) else 'I'}"
        return ModelOutput.from_content("mockllm/judge", verdict)

    return grade


@scorer(metrics=[mean()])
def parts() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value={"half": 0.5, "none": float("nan"), "colour": "blue"}, answer=state.output.completion)

    return score


def write(place: Path, name: str, right: int, scorers: list[Any], **options: Any) -> None:
    samples = [Sample(id=f"q{i}", input=f"What is {i}+1?", target=str(i + 1)) for i in range(QUESTIONS)]
    task = Task(
        dataset=MemoryDataset(samples, name="sums"),
        scorer=scorers,
        name="sums",
        config=GenerateConfig(temperature=0.0),
    )
    folder = place / name
    model = get_model("mockllm/model", custom_outputs=answering(right), memoize=False)
    evaluate(task, model=model, log_dir=str(folder), display="none", log_model_api=False, max_samples=1, **options)
    (found,) = folder.iterdir()
    found.rename(folder / f"log{found.suffix}")


def grader(unreadable: int = -1) -> dict[str, Any]:
    return {"grader": get_model("mockllm/judge", custom_outputs=grading(unreadable), memoize=False)}


if __name__ == "__main__":
    where = Path(sys.argv[1])
    shutil.rmtree(where, ignore_errors=True)
    rubric = [match(), model_graded_qa()]
    write(where, "base", 2, rubric, model_roles=grader(), epochs=2)
    write(where, "checkpoint-100", 3, rubric, model_roles=grader(0), epochs=2)
    write(where, "json", 2, [match()], log_format="json", limit=3)
    write(where, "self", 2, [model_graded_qa()], limit=1)
    write(where, "self-and-rule", 2, rubric, limit=1)
    write(where, "parts", 2, [match(), parts()], limit=2)
