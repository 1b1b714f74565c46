"""Reads a page of metrics with Prometheus' own parser; prints its samples, one JSON object a line."""
import json
import sys

from prometheus_client.parser import text_string_to_metric_families

for family in text_string_to_metric_families(open(sys.argv[1]).read()):
    for sample in family.samples:
        print(
            json.dumps(
                {
                    "family": family.name,
                    "type": family.type,
                    "help": family.documentation,
                    "name": sample.name,
                    "labels": sample.labels,
                    "value": sample.value,
                }
            )
        )
