"""Whatever JSON can say, for property tests of what a page may send."""

from hypothesis import strategies as st

from tasks.work.widgets.problems import Problem

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


def junk_with(*keys: str) -> st.SearchStrategy:
    """Return dictionaries with some of these keys and anything under them, or anything else."""
    return values | st.dictionaries(st.sampled_from(keys), values, max_size=len(keys))


def are_sentences(problems: list[Problem]) -> bool:
    """Return whether every problem is a sentence a worker can read."""
    return all(p.message[0].isupper() and p.message.endswith(".") for p in problems)
