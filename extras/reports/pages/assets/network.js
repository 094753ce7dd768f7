// The network as SVG: transfers of the step, the growing tree of a chunk, or the load of channels.

const SVG = "http://www.w3.org/2000/svg";
const REDUCE_COLOUR = "#b34700";
const COPY_COLOUR = "#0072b2";

function element(tag, attributes, parent) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (parent) parent.append(made);
  return made;
}

class NetworkView {
  constructor(svg, schedule, onPick) {
    this.svg = svg;
    this.schedule = schedule;
    this.shapes = [];
    this.circles = new Map();
    this.styled = new Set(); // channels that do not look as the filters alone make them
    this.filters = null;
    if (!schedule.nodes.length) {
      svg.closest("figure").hidden = true;
      return;
    }
    const xs = schedule.nodes.map((node) => node[1]);
    const ys = schedule.nodes.map((node) => node[2]);
    const room = schedule.radius + 44; // curves reach beyond the nodes
    const [left, top] = [Math.min(...xs) - room, Math.min(...ys) - room];
    svg.setAttribute("viewBox", `${left} ${top} ${Math.max(...xs) + room - left} ${Math.max(...ys) + room - top}`);
    this.lines = element("g", {}, svg);
    schedule.channels.forEach((channel, index) => this.addChannel(channel, index, onPick));
    const places = element("g", {}, svg);
    for (const node of schedule.nodes) this.addNode(node, places, onPick);
    this.fit();
  }

  // Leave no more room around what is drawn than it needs.
  fit() {
    const box = this.svg.getBBox();
    if (!box.width) return;
    this.svg.style.maxWidth = `${Math.round(1.7 * box.width + 40)}px`;
    this.svg.setAttribute("viewBox", `${box.x - 6} ${box.y - 6} ${box.width + 12} ${box.height + 12}`);
  }

  addChannel([source, destination, capacity, points], index, onPick) {
    const text = [];
    for (let place = 0; place < points.length; place += 2) text.push(`${points[place]},${points[place + 1]}`);
    const [start, ...rest] = text;
    const shape = element("g", { class: "channel", "data-channel": `${source}>${destination}` }, this.lines);
    const path = element("path", { d: `M${start} ${rest.length === 3 ? "C" : "L"}${rest.join(" ")}`, fill: "none" }, shape);
    const head = element("path", { d: this.headOf(points), stroke: "none" }, shape);
    element("path", { d: path.getAttribute("d"), fill: "none", stroke: "transparent", "stroke-width": 8 }, shape);
    shape.addEventListener("click", () => onPick({ channel: index }));
    shape.addEventListener("mousemove", (event) => showTip(event, this.channelWords(index, capacity)));
    shape.addEventListener("mouseleave", hideTip);
    this.shapes.push({ shape, path, head });
  }

  headOf(points) {
    const [px, py, x, y] = points.slice(-4);
    const length = Math.hypot(x - px, y - py) || 1;
    const [ux, uy] = [(x - px) / length, (y - py) / length];
    const size = Math.min(8, length / 2);
    const side = (turn) => `${x - size * ux - turn * size * 0.45 * uy},${y - size * uy + turn * size * 0.45 * ux}`;
    return `M${x},${y} L${side(1)} L${side(-1)} Z`;
  }

  addNode([id, x, y, kind, name], parent, onPick) {
    const { radius } = this.schedule;
    const group = element("g", { class: "node", "data-node": id }, parent);
    const shape = kind === 1
      ? element("rect", { x: x - radius * 0.9, y: y - radius * 0.9, width: radius * 1.8, height: radius * 1.8, rx: 3, fill: "#f6e3b4" }, group)
      : element("circle", { cx: x, cy: y, r: radius, fill: "#eef3f7" }, group);
    shape.setAttribute("stroke", "#1d2b36");
    if (this.schedule.nodes.length <= 256) {
      const label = element("text", { x, y, "font-size": Math.min(11, (2.3 * radius) / Math.max(2, String(id).length)), fill: "#1d2b36" }, group);
      label.textContent = id;
    }
    group.addEventListener("click", () => onPick({ node: id }));
    group.addEventListener("mousemove", (event) => showTip(event, name));
    group.addEventListener("mouseleave", hideTip);
    this.circles.set(id, { shape, fill: shape.getAttribute("fill") });
  }

  channelWords(index, capacity) {
    const load = this.schedule.load[index];
    const moving = (this.moving && this.moving.get(index)) || [];
    const words = moving.slice(0, 6).map(({ index: transfer, iteration }) => this.schedule.describe(transfer, iteration));
    return [`channel ${this.schedule.channelName(index)}, capacity ${capacity}, ${load} % in use`, ...words].join("\n");
  }

  style(index, colour, width, visible, dash = "") {
    const { path, head } = this.shapes[index];
    path.setAttribute("stroke", colour);
    path.setAttribute("stroke-width", width);
    path.setAttribute("stroke-dasharray", dash);
    head.setAttribute("fill", visible ? colour : "none");
    if (visible) this.lines.append(this.shapes[index].shape);
    this.styled.add(index);
  }

  // Every channel in the shade of its load.
  showLoad() {
    const { schedule } = this;
    const order = schedule.channels.map((_, index) => index).sort((a, b) => schedule.load[a] - schedule.load[b]);
    for (const index of order) this.style(index, schedule.load[index] ? shade(schedule.load[index] / 100) : "#e3a6a6", 2.8, true, schedule.load[index] ? "" : "2 3");
    this.colourNodes([], new Set());
  }

  // The transfers of the step; with one chunk chosen, its tree up to this step of the iteration.
  show(state, current) {
    if (!this.shapes.length) return;
    this.moving = new Map();
    for (const { index, iteration } of current) {
      for (const channel of this.schedule.channelsOf.get(index) || []) push(this.moving, channel, { index, iteration });
    }
    if (state.load) {
      this.showLoad();
      return;
    }
    this.quieten(state);
    const reached = new Set();
    if (state.chunk !== null) this.growTree(state, reached);
    for (const [channel, transfers] of this.moving) {
      const { index } = transfers[0];
      const colour = state.chunk === null ? colourOf(this.schedule.chunk[index]) : this.operationColour(index);
      const wrong = transfers.some((transfer) => this.schedule.isWrong.has(transfer.index));
      this.style(channel, wrong ? "#c8102e" : colour, wrong || state.chunk !== null ? 4.4 : 3.2, true, this.schedule.op[index] === REDUCE || state.chunk !== null ? "" : "5 2.5");
    }
    this.colourNodes(state.chunk === null ? [] : this.schedule.roots[state.chunk] || [], reached);
  }

  // All channels plain, those that the filters leave out lighter; only those that change, which matters on large networks.
  quieten(state) {
    const filters = `${state.channel} ${state.node}`;
    const changed = filters === this.filters ? [...this.styled] : this.shapes.map((_, index) => index);
    for (const index of changed) this.style(index, state.passesChannel(index) ? "#ccd6de" : "#edf1f4", 1.1, false);
    this.filters = filters;
    this.styled.clear();
  }

  operationColour(index) {
    return this.schedule.op[index] === REDUCE ? REDUCE_COLOUR : COPY_COLOUR;
  }

  growTree(state, reached) {
    const { schedule } = this;
    const iteration = schedule.iterationsAt(state.slot)[0];
    const until = state.slot - iteration * (schedule.period || 0);
    for (let index = 0; index < schedule.count; index++) {
      if (schedule.chunk[index] !== state.chunk || schedule.step[index] > until || !state.passes(index)) continue;
      if (schedule.op[index] !== REDUCE) reached.add(schedule.dst[index]);
      for (const channel of schedule.channelsOf.get(index) || []) this.style(channel, this.operationColour(index), 2.2, true);
    }
  }

  colourNodes(roots, reached) {
    for (const [id, { shape, fill }] of this.circles) {
      shape.setAttribute("fill", roots.includes(id) ? "#ffd84d" : reached.has(id) ? "#bfdcf2" : fill);
    }
  }
}
