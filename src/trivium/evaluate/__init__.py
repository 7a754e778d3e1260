"""Evaluation: retrieval measured as the field does, on any set with judgements.

`evaluate_folder` takes a BEIR folder and makes the library it needs, `evaluate_file` measures a
library that exists. Both give an `Evaluation`; `evaluation_json` and `page.py` show it.
"""

from trivium.evaluate.running import (
    Evaluation,
    Options,
    Row,
    evaluate_file,
    evaluate_folder,
    evaluation_json,
)

__all__ = [
    "Evaluation",
    "Options",
    "Row",
    "evaluate_file",
    "evaluate_folder",
    "evaluation_json",
]
