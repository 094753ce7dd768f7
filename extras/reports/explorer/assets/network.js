// The network as SVG: transfers of the step, the growing tree of a chunk, or the load of channels.

const SVG = "http://www.w3.org/2000/svg";
const REDUCE_COLOUR = "#b34700";
const COPY_COLOUR = "#0072b2";
const MOST_LABELLED = 256; // nodes whose labels are shown without zooming

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
    this.shapes = []; // of each channel: the path of its line, and that of its head
    this.circles = new Map();
    this.marked = new Map(); // channels that do not look as the filters alone make them, and how they look
    if (!schedule.nodes.length) {
      svg.closest("figure").hidden = true;
      return;
    }
    const xs = schedule.nodes.map((node) => node[1]);
    const ys = schedule.nodes.map((node) => node[2]);
    const room = schedule.radius + 44; // curves reach beyond the nodes
    const [left, top] = [Math.min(...xs) - room, Math.min(...ys) - room];
    svg.setAttribute("viewBox", `${left} ${top} ${Math.max(...xs) + room - left} ${Math.max(...ys) + room - top}`);
    this.plain = element("g", { fill: "none", "stroke-width": 1.1, "pointer-events": "none" }, svg);
    this.marks = element("g", { fill: "none", "pointer-events": "none" }, svg);
    this.lines = element("g", { fill: "none", stroke: "transparent", "stroke-width": 8 }, svg); // for the pointer only
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
    this.full = { x: box.x - 6, y: box.y - 6, width: box.width + 12, height: box.height + 12 };
    this.whole();
    this.svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, this.placeOf(event));
    }, { passive: false });
    this.svg.addEventListener("pointerdown", (event) => this.drag(event));
    this.svg.addEventListener("dblclick", () => this.whole());
  }

  whole() {
    if (this.full) this.look(this.full); // nothing is drawn of a network that is too large
  }

  // Show a part of the picture; labels of many nodes only where there is room for them.
  look(box) {
    this.box = box;
    this.svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
    this.svg.classList.toggle("far", this.schedule.nodes.length > MOST_LABELLED && this.full.width < 3 * box.width);
  }

  // The place in the picture below the pointer.
  placeOf(event) {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return [place.x, place.y];
  }

  // Larger about a place, by default the middle of what is shown; never smaller than the whole.
  zoom(by, place = null) {
    if (!this.full) return;
    const [x, y] = place || [this.box.x + this.box.width / 2, this.box.y + this.box.height / 2];
    const width = Math.min(this.full.width, Math.max(this.full.width / 40, this.box.width / by));
    const scale = width / this.box.width;
    if (width === this.full.width) this.whole();
    else this.look({ x: x - (x - this.box.x) * scale, y: y - (y - this.box.y) * scale, width, height: this.box.height * scale });
  }

  // Move what is shown with the pointer; a click that hardly moves stays a click.
  drag(start) {
    if (start.button !== 0 || this.box === this.full) return;
    const scale = this.box.width / this.svg.getBoundingClientRect().width;
    const from = this.box;
    const move = (event) => {
      const [right, down] = [event.clientX - start.clientX, event.clientY - start.clientY];
      if (Math.abs(right) + Math.abs(down) > 4) this.look({ ...from, x: from.x - right * scale, y: from.y - down * scale });
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", () => {
      window.removeEventListener("pointermove", move);
      if (this.box === from) return;
      const ignore = (event) => event.stopPropagation();
      this.svg.addEventListener("click", ignore, { capture: true });
      setTimeout(() => this.svg.removeEventListener("click", ignore, { capture: true }));
    }, { once: true });
  }

  addChannel([source, destination, capacity, points], index, onPick) {
    const text = [];
    for (let place = 0; place < points.length; place += 2) text.push(`${points[place]},${points[place + 1]}`);
    const [start, ...rest] = text;
    const line = `M${start} ${rest.length === 3 ? "C" : "L"}${rest.join(" ")}`;
    const shape = element("path", { class: "channel", "data-channel": `${source}>${destination}`, d: line }, this.lines);
    shape.addEventListener("click", () => onPick({ channel: index }));
    shape.addEventListener("mousemove", (event) => showTip(event, this.channelWords(index, capacity)));
    shape.addEventListener("mouseleave", hideTip);
    this.shapes.push({ line, head: this.headOf(points) });
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
      ? element("rect", { x: x - radius * 0.9, y: y - radius * 0.9, width: radius * 1.8, height: radius * 1.8, rx: 3, fill: palette.unit }, group)
      : element("circle", { cx: x, cy: y, r: radius, fill: palette.node }, group);
    const label = element("text", { x, y, "font-size": Math.min(11, (2.3 * radius) / Math.max(2, String(id).length)) }, group);
    label.textContent = id;
    group.addEventListener("click", () => onPick({ node: id }));
    group.addEventListener("mousemove", (event) => showTip(event, name));
    group.addEventListener("mouseleave", hideTip);
    this.circles.set(id, { shape, label, kind: kind === 1 ? "unit" : "node" });
  }

  channelWords(index, capacity) {
    const load = this.schedule.load[index];
    const moving = (this.moving && this.moving.get(index)) || [];
    const words = moving.slice(0, 6).map(({ index: transfer, iteration }) => this.schedule.describe(transfer, iteration));
    return [`channel ${this.schedule.channelName(index)}, capacity ${capacity}, ${load} % in use`, ...words].join("\n");
  }

  mark(channel, colour, width, dash = "") {
    this.marked.delete(channel); // the last one lies on top
    this.marked.set(channel, `${colour} ${width} ${dash}`);
  }

  // Draw the marked channels, all that look alike as one line: a browser paints a few long lines much faster than many short ones.
  drawMarked() {
    const alike = new Map();
    for (const [channel, look] of this.marked) push(alike, look, channel);
    const lines = [...alike].map(([look, channels]) => {
      const [colour, width, ...dash] = look.split(" ");
      const group = element("g", {});
      element("path", { d: channels.map((channel) => this.shapes[channel].line).join(""), stroke: colour, "stroke-width": width, "stroke-dasharray": dash.join(" ") }, group);
      element("path", { class: "heads", d: channels.map((channel) => this.shapes[channel].head).join(""), fill: colour }, group);
      return group;
    });
    this.marks.replaceChildren(...lines);
  }

  // The channels that nothing marks, those that the filters leave out lighter.
  drawPlain(passes) {
    const lines = [[], []];
    this.shapes.forEach(({ line }, channel) => lines[passes(channel) ? 0 : 1].push(line));
    const drawn = [palette.quieter, palette.quiet].map((stroke, place) => element("path", { d: lines[1 - place].join(""), stroke }));
    this.plain.replaceChildren(...drawn);
  }

  // Every channel in the shade of its load.
  showLoad() {
    const { schedule } = this;
    const order = schedule.channels.map((_, index) => index).sort((a, b) => schedule.load[a] - schedule.load[b]);
    this.marked.clear();
    for (const index of order) this.mark(index, schedule.load[index] ? schedule.shades.of(schedule.load[index]) : palette.idle, 2.8, schedule.load[index] ? "" : "2 3");
    this.drawMarked();
    this.colourNodes([], new Set());
  }

  // The transfers of the step; with one chunk chosen, its tree up to this step of the iteration.
  show(state, current) {
    if (!this.shapes.length) return;
    this.moving = new Map();
    for (const { index, iteration } of current) {
      for (const channel of this.schedule.channelsOf(index)) push(this.moving, channel, { index, iteration });
    }
    if (state.load) {
      if (this.loaded !== palette.paper) this.showLoad();
      this.loaded = palette.paper;
      return;
    }
    this.loaded = null;
    const filters = `${state.channel} ${state.node} ${palette.paper}`;
    if (filters !== this.filters) this.drawPlain(state.passesChannel);
    this.filters = filters;
    this.marked.clear();
    const reached = new Set();
    if (state.chunk !== null) this.growTree(state, reached);
    for (const [channel, transfers] of this.moving) {
      const { index } = transfers[0];
      const colour = state.chunk === null ? colourOf(this.schedule.chunk[index]) : this.operationColour(index);
      const wrong = transfers.some((transfer) => this.schedule.isWrong.has(transfer.index));
      this.mark(channel, wrong ? palette.wrong : colour, wrong || state.chunk !== null ? 4.4 : 3.2, this.schedule.op[index] === REDUCE || state.chunk !== null ? "" : "5 2.5");
    }
    this.drawMarked();
    this.colourNodes(state.chunk === null ? [] : this.schedule.roots[state.chunk] || [], reached);
  }

  operationColour(index) {
    return this.schedule.op[index] === REDUCE ? REDUCE_COLOUR : COPY_COLOUR;
  }

  growTree(state, reached) {
    const { schedule } = this;
    const iteration = schedule.iterationsAt(state.slot)[0];
    const until = state.slot - iteration * (schedule.period || 0);
    for (const index of schedule.byChunk.of(state.chunk)) {
      if (schedule.step[index] > until || !state.passes(index)) continue;
      if (schedule.op[index] !== REDUCE) reached.add(schedule.dst[index]);
      for (const channel of schedule.channelsOf(index)) this.mark(channel, this.operationColour(index), 2.2);
    }
  }

  colourNodes(roots, reached) {
    for (const [id, circle] of this.circles) {
      const fill = roots.includes(id) ? palette.root : reached.has(id) ? palette.reached : palette[circle.kind];
      if (circle.fill === fill && circle.ink === palette.ink) continue;
      Object.assign(circle, { fill, ink: palette.ink });
      circle.shape.setAttribute("fill", fill);
      circle.shape.setAttribute("stroke", palette.ink);
      circle.label.setAttribute("fill", palette.ink);
    }
  }
}
