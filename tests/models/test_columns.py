"""Whether two columns have a number in common."""

from random import Random

import numpy as np
import pytest

from certree.models.columns import have_common


@pytest.mark.parametrize("seed", range(50))
def test_have_common(seed):
    rng = Random(seed)
    one, other = ([rng.randrange(60) for _ in range(rng.randint(0, 12))] for _ in range(2))
    expected = bool(set(one) & set(other))
    assert have_common(np.array(one, np.int64), np.array(other, np.int64)) == expected
