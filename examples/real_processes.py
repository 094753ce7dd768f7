"""Execution by one process for each endpoint, with real data and sockets between them."""

import certree.api as ct

if __name__ == "__main__":
    executed = ct.execute(ct.synthesize("ring:4", size="64KiB"), type="float32")
    print(f"results exact: {executed.exact}, {float(max(executed.seconds)):.4f} s for the slowest rank")
