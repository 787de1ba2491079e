"""How often a held-out set was used: the same questions must not be asked until one candidate passes by luck."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.heldout.rows import HeldoutRows


def heldout_set_id(rows: HeldoutRows) -> str:
    """Identity of the held-out questions: SHA-256 of the sorted question ids and prompts.

    Other checkpoints, judges, repeats and the order of the rows do not change it. Rows of a question that give no
    prompt say nothing, if another row gives it.
    """
    pairs = rows.table.select(["question_id", "prompt"]).group_by(["question_id", "prompt"]).aggregate([])
    prompts: dict[str, list[str]] = {}
    for question, prompt in zip(pairs["question_id"].to_pylist(), pairs["prompt"].to_pylist(), strict=True):
        given = prompts.setdefault(question, [])
        if prompt is not None:
            given.append(prompt)
    return _digest([question, *sorted(given)] for question, given in sorted(prompts.items()))


def answers_identity(rows: HeldoutRows, checkpoint: str) -> str:
    """Identity of a checkpoint's answers: SHA-256 of the sorted questions, decodings, repeats and answers.

    Judges do not change it. Rows without an answer count by judge and score.

    Args:
        rows: held-out rows.
        checkpoint: its name.
    """
    table = rows.table.filter(pc.equal(rows.table["checkpoint"], checkpoint))
    columns = [table[name].to_pylist() for name in ("question_id", "decoding", "epoch", "answer", "judge", "score")]
    records = {
        (question, decoding or "", -1 if epoch is None else epoch, "answer", answer)
        if answer is not None
        else (question, decoding or "", -1 if epoch is None else epoch, judge, repr(score))
        for question, decoding, epoch, answer, judge, score in zip(*columns, strict=True)
    }
    return _digest(sorted(records))


def candidate_identity(rows: HeldoutRows, candidate: str, candidate_hash: str | None = None) -> str:
    """Who the candidate is: its checkpoint's hash if known, else its name with the hash of its answers.

    Args:
        rows: held-out rows.
        candidate: the checkpoint's name.
        candidate_hash: content hash of the checkpoint, if known.
    """
    return candidate_hash or f"{candidate}:{answers_identity(rows, candidate)}"


def count_looks(
    verdicts: pa.Table, *, heldout_set: str, family: str, candidate_identity: str, answers_identity: str
) -> int:
    """How many different candidates of a family were gated on a held-out set, this one included.

    Two gatings are of the same candidate if they share the identity or the answers: naming the checkpoint's files
    later is no new look. New answers of a candidate whose files are not known are one: drawn again often enough,
    some would pass.

    Args:
        verdicts: earlier verdicts, :data:`rlchecks.schema.VERDICTS`.
        heldout_set: identity of the questions, of :func:`heldout_set_id`.
        family: name of the run family.
        candidate_identity: of :func:`candidate_identity`.
        answers_identity: of :func:`answers_identity`.

    Returns:
        At least 1.
    """
    same = pc.and_(pc.equal(verdicts["heldout_set"], heldout_set), pc.equal(verdicts["family"], family))
    seen = verdicts.filter(same).select(["candidate_identity", "answers_identity"]).to_pylist()
    candidates = [{candidate_identity, answers_identity}]
    for row in seen:
        known = {identity for identity in row.values() if identity is not None}
        if not known:
            continue
        # Everything that this one connects becomes one candidate.
        linked = [group for group in candidates if group & known]
        candidates = [group for group in candidates if not group & known] + [known.union(*linked)]
    return len(candidates)


def _digest(records: Iterable[object]) -> str:
    return hashlib.sha256(json.dumps(list(records)).encode()).hexdigest()
