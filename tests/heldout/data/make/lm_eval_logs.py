"""Write the lm-evaluation-harness logs of the tests: ``python lm_eval_logs.py`` in an empty directory.

The committed ones are by lm_eval 0.4.13, without the files that it writes for itself. The model's answers are made up;
the checkpoint tells how many sums are right. ``other-prompt`` asks the same questions in other words.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lm_eval
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from lm_eval.utils import simple_parse_args_string

TASK = """task: sums
dataset_path: json
dataset_kwargs:
  data_files: {{test: sums.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{text}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: ["\\n"], do_sample: false, temperature: 0.0}}
filter_list:
  - name: strict-match
    filter:
      - function: regex
        regex_pattern: "^(\\\\d+)$"
      - function: take_first
  - name: flexible-extract
    filter:
      - function: regex
        regex_pattern: "(\\\\d+)"
      - function: take_first
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
metadata: {{version: 1.0}}
"""


@register_model("fixed")
class Fixed(LM):
    def __init__(self, right: int) -> None:
        super().__init__()
        self.right = right

    @classmethod
    def create_from_arg_string(cls, arguments: str, additional: Any = None) -> Fixed:
        return cls(int(simple_parse_args_string(arguments)["right"]))

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        answers = []
        for request in requests:
            number = int(request.args[0].split("+")[0].split()[-1])
            wrong = f"it is {number + 1}" if number % 2 else "no idea"
            answers.append(str(number + 1) if number < self.right else wrong)
        return answers

    def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> list[Any]:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: Any, disable_tqdm: bool = False) -> list[Any]:
        raise NotImplementedError


def write(name: str, right: int, text: str) -> None:
    Path("sums.yaml").write_text(TASK.format(text=text))
    tracker = EvaluationTracker(output_path="lm_eval")
    results = lm_eval.simple_evaluate(
        model="fixed",
        model_args=f"right={right},pretrained=models/{name}",
        tasks=["sums"],
        task_manager=TaskManager(include_path=".", include_defaults=False),
        evaluation_tracker=tracker,
        log_samples=True,
        limit=5,
        bootstrap_iters=0,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for task, answers in samples.items():
        tracker.save_results_samples(task_name=task, samples=answers)


if __name__ == "__main__":
    rows = [{"question": f"What is {i}+1?", "answer": str(i + 1)} for i in range(6)]
    Path("sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    write("base", 2, "{{question}}")
    write("checkpoint-100", 5, "{{question}}")
    write("other-prompt", 5, "Add up. {{question}}")
