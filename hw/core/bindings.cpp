#include "bindings.hpp"

NB_MODULE(_core, module) {
  module.doc() = "Cycle-accurate simulator core.";
  certree::bind_node_endpoints(module);
  certree::bind_lanes(module);
  certree::bind_routers(module);
  certree::bind_flits(module);
  certree::bind_reducing(module);
  certree::bind_endpoints(module);
}
