"""The expectation suites and the thresholds of the findings: data, made to be copied and edited."""
