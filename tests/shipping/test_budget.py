"""The budget of sizes: what counts, and that a size above its limit is refused."""

from tests.shipping.budget import limits, measure, over

FILES = {
    "cli/app.py": "from typing import Any\n\nclass Case:\n    a: Any\n    b: dict[str, Any]\n",
    "groups/case.py": "class Case: ...\nclass _Case: ...\n",
    "tests/test_app.py": "class Case: ...\nx: Any\n",
    "benchmarks/app.py": "class Case: ...\n",
}


def test_product_and_tests_are_counted_apart() -> None:
    sizes = measure(FILES)
    assert sizes.figures() == {
        "product-lines": 7, "product-files": 2, "product-any": 2,
        "test-lines": 2, "test-files": 1, "shared-class-names": 1, "classes": 2,
    }  # fmt: skip
    assert sizes.shared_class_names == {"Case": ["cli/app.py", "groups/case.py"]}


def test_a_size_above_its_limit_is_named_with_both_figures() -> None:
    figures = measure(FILES).figures()
    assert list(over(figures, {"product-lines": 7, "test-lines": 2})) == []
    (problem,) = over(figures, {"product-lines": 6, "test-lines": 2})
    assert problem.startswith("product-lines: 7 is above the budget of 6")


def test_every_limit_is_of_something_that_is_measured() -> None:
    assert limits().keys() <= measure({}).figures().keys() | {"test-processor-seconds"}
