"""Prefect flows, deployable as they are: ``gate``, ``audit`` and ``ingest`` of ``rlchecks.flows``."""
