# What this extra adds to `import certree.api as ct`, read by `certree.api` when it is imported.
from certree.extras.algorithms.make.builder import Builder as Builder
from certree.extras.algorithms.make.builder import InvalidAlgorithmError as InvalidAlgorithmError
from certree.extras.algorithms.make.data_frames import from_dataframe as from_dataframe
from certree.extras.algorithms.make.data_frames import to_dataframe as to_dataframe
from certree.extras.algorithms.make.python_methods import FaultyMethodError as FaultyMethodError
from certree.extras.algorithms.make.python_methods import method as method
from certree.extras.algorithms.make.written_rows import Written as Written
