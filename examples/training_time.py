"""An iteration of training on a network, with collectives that overlap with computing."""

import certree.api as ct

run = ct.train("astra-resnet50", "torus:4x4", method="multitree")
print(run)
ct.report(run, "training.html", force=True)
