"""Rules of routers that simulators run and checkers check: which routes packets take, and which virtual channels they may take.

- `grid_routing`: dimension order on whole grids, and datelines; `packet_routes`: routes of packets that bring none
- `virtual_channels`: the virtual channels of each class of traffic, and of each hop of a route
- `lanes`: the lanes of wide links that messages take
- `transparency`: whether routers add anything to lanes that nobody shares
"""
