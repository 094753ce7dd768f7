# What this extra adds to `import certree.api as ct`, read by `certree.api` when it is imported.
from certree.extras.joint.check.joint_checks import JointVerdict as JointVerdict
from certree.extras.joint.check.joint_checks import verify_joint as verify_joint
from certree.extras.joint.check.launches import LaunchVerdict as LaunchVerdict
from certree.extras.joint.check.launches import check_launches as check_launches
from certree.extras.joint.make.joining import joint as joint
from certree.extras.joint.model.collective_list import Entry as Entry
from certree.extras.joint.model.collective_list import save_collectives as save_collectives
from certree.extras.joint.model.joint_file import save_joint as save_joint
from certree.extras.joint.model.joint_schedule import JointSchedule as JointSchedule
