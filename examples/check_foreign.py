"""A schedule from elsewhere. This one forwards a sum before it is complete, and the verdict says so."""

from pathlib import Path

import certree.api as ct

Path("mine.csv").write_text("chunk,op,src,dst,step\n0,reduce,1,0,0\n0,reduce,2,0,0\n0,copy,0,1,1\n0,copy,0,2,0\n")
verdict = ct.verify("mine.csv", topology="ring:3", collective="all-reduce")
assert not verdict.valid
print(verdict.violations[0].message)
ct.draw("mine.csv", "violation.svg", topology="ring:3", collective="all-reduce", force=True)
