"""Types of the checker in `verify/native`."""

import numpy as np
from numpy.typing import NDArray

def check_rup(
    variables: int, formula: NDArray[np.int32], proof: NDArray[np.int32], deletes: NDArray[np.uint8]
) -> tuple[int, int]: ...
