"""How often a held-out set was used: the same questions must not be asked until one candidate passes by luck."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.heldout.question_set import QuestionSet, shares_most
from rlchecks.heldout.rows import HeldoutRows


def answers_identity(rows: HeldoutRows, checkpoint: str) -> str:
    """Identity of a checkpoint's answers: SHA-256 of the sorted questions, decodings, repeats and answers.

    Judges do not change it. Rows without an answer count by judge and score, and so do all rows where every answer is
    the same text, such as ``[redacted]``, which tells no candidate from another.

    Args:
        rows: held-out rows.
        checkpoint: its name.
    """
    table = rows.table.filter(pc.equal(rows.table["checkpoint"], checkpoint))
    answered = pc.is_valid(table["answer"])
    if len(pc.unique(table["answer"].drop_null())) == 1 and len(pc.unique(table["question_id"])) > 1:
        answered = pc.is_null(table["question_id"])
    epoch = pc.fill_null(table["epoch"].cast(pa.string()), "")
    given = [*_columns(table, ("question_id", "decoding")), epoch, pc.if_else(answered, "answer", table["judge"])]
    score = pc.fill_null(table["score"].cast(pa.string()), "")
    return _digest(*given, pc.if_else(answered, table["answer"], score))


def candidate_identity(candidate: str, answers: str, candidate_hash: str | None = None) -> str:
    """Who the candidate is: its checkpoint's hash if known, else its name with the identity of its answers.

    Args:
        candidate: the checkpoint's name.
        answers: of :func:`answers_identity`.
        candidate_hash: content hash of the checkpoint, if known.
    """
    return candidate_hash or f"{candidate}:{answers}"


def count_looks(
    verdicts: pa.Table,
    *,
    questions: QuestionSet,
    family: str,
    answers: Collection[str],
    choose_on: float | None = None,
) -> int:
    """How many different sets of answers of a family were compared on these questions, those of this call included.

    The same answers again are no new look, whatever the files are called. New answers are one, also of a checkpoint
    that was gated before: drawn again often enough, some would pass. Candidates that were set aside in an earlier call
    count like the one that was judged, unless they were set aside on the part of the questions that this call does not
    decide on either.

    Args:
        verdicts: earlier verdicts, :data:`rlchecks.schema.VERDICTS`.
        questions: of :func:`rlchecks.heldout.question_set.question_set`; sets that share most of their questions count
            as one.
        family: name of the run family.
        answers: identities of the answers that are compared now, of :func:`answers_identity`.
        choose_on: share of the questions that the candidate was chosen on, None if all decide.

    Returns:
        At least the number of different ``answers``.
    """
    earlier = _earlier(verdicts, questions, family, choose_on)
    return len(set(answers).union(*earlier))


def count_together(
    verdicts: pa.Table,
    *,
    questions: QuestionSet,
    family: str,
    answers: Collection[str],
    choose_on: float | None = None,
) -> int:
    """How many of a call's answers are looked at for the first time together.

    It is ``together`` of :func:`rlchecks.heldout.holm.looks_divisor`. Those of earlier calls are not among them:
    candidates gated one after the other, each in one call with all before it, are looks one after the other. A call
    that is repeated is the call that it was.

    Args:
        verdicts: earlier verdicts in the order in which they were made.
        questions: as for :func:`count_looks`.
        family: as for :func:`count_looks`.
        answers: as for :func:`count_looks`.
        choose_on: as for :func:`count_looks`.

    Returns:
        At least 1.
    """
    new = set(answers)
    for seen in _earlier(verdicts, questions, family, choose_on):
        if seen == set(answers):
            break
        new -= seen
    return max(len(new), 1)


def _earlier(verdicts: pa.Table, questions: QuestionSet, family: str, choose_on: float | None) -> Iterator[set[str]]:
    """The answers that each earlier call of the family looked at, if it did so on these questions."""
    for row in verdicts.filter(pc.equal(verdicts["family"], family)).to_pylist():
        if row["heldout_set"] == questions.id or shares_most(
            questions.sketch, row["heldout_sketch"], questions.prompts_each
        ):
            yield set(_looked_at(row, choose_on))


def _looked_at(row: dict[str, object], choose_on: float | None) -> Iterator[str]:
    identity = row["answers_identity"] or row["candidate_identity"]
    if identity is not None:
        yield str(identity)
    others = row["other_answers"]
    if isinstance(others, list) and not (choose_on is not None and row["choose_on"] == choose_on):
        yield from map(str, others)


def _columns(table: pa.Table, names: tuple[str, ...]) -> list[pa.ChunkedArray]:
    # No prompt and an empty one are alike: neither says what was asked.
    return [pc.fill_null(table[name], "") for name in names]


def _digest(*columns: pa.ChunkedArray) -> str:
    """SHA-256 of the different rows, in the order of their bytes."""
    # Lengths in front tell where each text ends. Large offsets, since all answers together may exceed 2 GiB.
    lengths = [pc.binary_length(column).cast(pa.large_string()) for column in columns]
    texts = [*lengths, *(column.cast(pa.large_string()) for column in columns)]
    different = pc.unique(pc.binary_join_element_wise(*texts, pa.scalar(" ", pa.large_string())))
    ordered = different.take(pc.sort_indices(different))
    digest = hashlib.sha256(str(len(ordered)).encode())
    size: int | None = pc.sum(pc.binary_length(ordered)).as_py()
    if size:
        digest.update(memoryview(ordered.buffers()[2])[:size])
    return digest.hexdigest()
