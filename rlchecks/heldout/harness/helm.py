"""HELM runs: ``per_instance_stats.json``, with ``display_predictions.json`` and ``run_spec.json`` beside it.

Formats: ``helm/benchmark/metrics/{metric,statistic,metric_name}.py``, ``helm/benchmark/run_spec.py`` and
``helm/benchmark/presentation/run_display.py`` of stanford-crfm/helm. Instance, perturbation and trial are the key.
"""

from __future__ import annotations

from rlchecks.heldout.harness.log import Answer, EvalLog, JudgeFacts, Object
from rlchecks.heldout.harness.marks import decoding, name, number, whole
from rlchecks.heldout.harness.shape import items, mapping
from rlchecks.heldout.harness.source import Source

# Statistics of every run that score no answer (helm/benchmark/metrics/basic_metrics.py and efficiency metrics).
_BOOKKEEPING = ("num_", "finish_reason_", "inference_", "training_", "batch_size", "max_num_", "prompt_truncated")
_Key = tuple[str, str, int]


class HelmFormat:
    """Reads HELM runs."""

    name = "helm"

    def named(self, name: str) -> bool:
        """The statistics, by the name that HELM gives them."""
        return name == "per_instance_stats.json"

    def detect(self, source: Source) -> bool:
        """Objects with an instance, a trial and statistics."""
        return source.opening.keys() >= {"instance_id", "train_trial_index", "stats"}

    def read(self, source: Source) -> EvalLog:
        """Read the statistics of each instance; each metric is a judge.

        Raises:
            InputError: an instance has no id, or no metric scores an answer.
        """
        predictions = _predictions(source.beside("display_predictions.json"))
        spec = source.beside("run_spec.json")
        adapter = mapping(mapping(spec.document if spec else None).get("adapter_spec"))
        sampled = decoding(adapter.get("temperature"))
        answers: list[Answer] = []
        for place, item in source.objects():
            instance, perturbation, trial = key = _key(item)
            if not instance:
                raise source.error("the statistics have no instance_id", place, "write them again")
            for stat in items(item.get("stats")):
                called = mapping(mapping(stat).get("name"))
                judge = name(called.get("name"))
                if judge is None or judge.startswith(_BOOKKEEPING):
                    continue
                count = number(mapping(stat).get("count"))
                answers.append(
                    Answer(
                        f"{instance}/{perturbation}" if perturbation else instance,
                        judge,
                        number(mapping(stat).get("mean")) if count else None,
                        place,
                        epoch=trial,
                        decoding=sampled,
                        answer=predictions.get(key),
                        category=name(called.get("split")),
                        cluster=instance if perturbation else None,
                    )
                )
        if not answers:
            raise source.error("no statistic scores an answer", todo="give a run with metrics of its answers")
        if any(answer.cluster for answer in answers):
            # The instance without perturbation belongs to those with one.
            answers = [answer._replace(cluster=answer.cluster or answer.question_id) for answer in answers]
        model = name(adapter.get("model")) or name(adapter.get("model_deployment"))
        judges = tuple(JudgeFacts(judge) for judge in dict.fromkeys(answer.judge for answer in answers))
        return EvalLog(self.name, answers, model, judges=judges)


def _key(item: Object) -> _Key:
    perturbation = mapping(item.get("perturbation"))
    # Fields that are None are left out; a perturbation is told apart by its name and seed.
    parts = (name(perturbation.get(part)) for part in ("name", "seed"))
    shown = "/".join(part for part in parts if part is not None)
    return name(item.get("instance_id")) or "", shown, whole(item.get("train_trial_index")) or 0


def _predictions(source: Source | None) -> dict[_Key, str]:
    if source is None:
        return {}
    texts = ((_key(item), item.get("predicted_text")) for _, item in source.objects())
    return {key: text for key, text in texts if isinstance(text, str)}
