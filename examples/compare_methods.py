"""Methods at several sizes, by closed form and by simulation; and the plot."""

import certree.api as ct

compared = ct.compare("torus:4x4", sizes=["4KiB", "1MiB"], methods=["auto", "multitree", "ring"])
for cell in compared.cells:
    print(cell["message_bytes"], cell["method"], cell["time_cycles"], cell["simulated_cycles"])
ct.draw(compared, "compared.svg", force=True)
