"""Expectation suites over signals and evidence: loaded strictly, validated by Great Expectations, fail closed.

Great Expectations passes what it cannot check: null columns, expectations it does not understand, empty suites,
infinities. Here only a value that is present, finite and inside its range passes. Importing this package does not
import Great Expectations; :func:`validate` does.
"""

from rlchecks.health.document import load_suite
from rlchecks.health.result import Check, SuiteResult
from rlchecks.health.suite import ExpectationSpec, Suite, thresholds
from rlchecks.health.validation import validate

__all__ = ["Check", "ExpectationSpec", "Suite", "SuiteResult", "load_suite", "thresholds", "validate"]
