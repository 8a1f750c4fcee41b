"""The two decorators, the catalogue that they fill, and the parser of `ndcg@10` and `name(param=value)`."""

from ragstone.registry.catalogue import CATALOGUE, Catalogue
from ragstone.registry.declare import evidence, metric
from ragstone.registry.expression import Metric, parse_metric, resolve_metrics
from ragstone.registry.specs import Corpus, EvidenceSpec, MetricSpec, Parameter, Threshold

Good = Threshold  # its name in 0.1.0

__all__ = ["CATALOGUE", "Catalogue", "Corpus", "EvidenceSpec", "Metric", "MetricSpec", "Parameter", "Threshold"]
__all__ += ["evidence", "metric", "parse_metric", "resolve_metrics"]
