"""`quality.py CERTREE RATIO SCHEDULE ...`: fail where a schedule takes more than RATIO times the time bound of its network."""

import json
import subprocess
import sys
from fractions import Fraction

certree, ratio, *schedules = sys.argv[1:]
failed = False
for schedule in schedules:
    told = subprocess.run([certree, "verify", schedule, "--json"], check=True, stdout=subprocess.PIPE)
    report = json.loads(told.stdout)
    reached = Fraction(report["time_cycles"], report["time_bound_cycles"])
    failed |= reached > Fraction(ratio)
    print(f"{schedule}: {float(reached):.3f} times the time bound; allowed: {ratio}")
sys.exit(failed)
