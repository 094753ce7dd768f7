# What this extra adds to `import certree.api as ct`, read by `certree.api` when it is imported.
from certree.extras.training.run.joint_lists import joint_list as joint_list
from certree.extras.training.run.running import train as train
