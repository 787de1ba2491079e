"""Prefect flows, deployable as they are: ``gate``, ``audit``, ``ingest`` and ``evaluate`` of ``rlchecks.flows``."""
