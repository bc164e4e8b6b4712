"""Tests of the pipeline that start processes, clusters or streams of their own, and take minutes."""

import os

import pytest

ASKED = "KOHORT_PIPELINE"
LONG = pytest.mark.skipif(
    os.environ.get(ASKED) != "all", reason=f"{ASKED}=all asks for it, as `make pipeline` does"
)
