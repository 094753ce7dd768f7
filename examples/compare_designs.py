"""Two networks of four accelerators compared by time, and ranked with reasons, on a page with linked charts."""

import certree.api as ct

if __name__ == "__main__":
    asked = {"networks": ["ring:4", "full:4"], "sizes": ["1KiB", "1MiB"], "method": "multitree"}
    found = ct.designs(asked, "designs", workers=1)
    for place in found.rankings[0].places:
        print(place.network)
