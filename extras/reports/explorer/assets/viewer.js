// The interactive views of a page: state, controls, keys, and the list of the transfers of a step.

const MOST_LISTED = 100;
const MOST_PRINTED = 40;

function showTip(event, text) {
  const tip = document.getElementById("tip");
  tip.textContent = text;
  tip.hidden = false;
  const { offsetWidth, offsetHeight } = tip;
  tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, window.innerHeight - offsetHeight - 8)}px`;
}

function hideTip() {
  document.getElementById("tip").hidden = true;
}

class Viewer {
  constructor(root, schedule) {
    this.root = root;
    this.schedule = schedule;
    this.state = {
      slot: 0, chunk: null, channel: null, node: null, load: false, aggregate: Boolean(schedule.aggregate) && !schedule.aggregate.shades.alike,
      passes: (index) => this.passes(index), passesChannel: (channel) => this.passesChannel(channel),
    };
    const pick = (found) => this.pick(found);
    this.network = new NetworkView(root.querySelector("svg.network"), schedule, pick);
    this.time = new SpaceTime(root, schedule, pick);
    this.timer = null;
    this.connect();
    this.show();
  }

  part(name) {
    return this.root.querySelector(`[data-is="${name}"]`);
  }

  connect() {
    const { root, schedule } = this;
    for (const name of ["slot", "slider"]) {
      this.part(name).max = schedule.total_steps - 1;
      this.part(name).addEventListener("input", (event) => this.goTo(Number(event.target.value)));
    }
    const actions = {
      first: () => this.goTo(0), back: () => this.goTo(this.state.slot - 1), forward: () => this.goTo(this.state.slot + 1),
      last: () => this.goTo(schedule.total_steps - 1), play: () => this.play(), clear: () => this.clear(),
      in: () => this.time.zoom(1), out: () => this.time.zoom(-1),
      closer: () => this.network.zoom(1.5), farther: () => this.network.zoom(1 / 1.5), whole: () => this.network.whole(),
    };
    for (const button of root.querySelectorAll("[data-do]")) button.addEventListener("click", actions[button.dataset.do]);
    for (const name of ["chunk", "channel", "node"]) this.part(name).addEventListener("change", () => this.readFilters());
    this.part("load").addEventListener("change", (event) => this.set({ load: event.target.checked }));
    this.part("aggregate").checked = this.state.aggregate;
    this.part("aggregate").addEventListener("change", (event) => this.set({ aggregate: event.target.checked }));
    root.querySelector("label.aggregate").hidden = !schedule.aggregate;
    for (const part of root.querySelectorAll("label.load, .of-network")) part.hidden = !schedule.nodes.length;
    root.querySelector(".panes").classList.toggle("single", !schedule.nodes.length);
    const keys = {
      ArrowLeft: actions.back, ArrowRight: actions.forward, Home: actions.first, End: actions.last, " ": actions.play,
      "+": actions.in, "-": actions.out, Escape: actions.clear, i: actions.closer, o: actions.farther, 0: actions.whole,
      PageDown: () => this.goTo(this.state.slot + 10), PageUp: () => this.goTo(this.state.slot - 10),
    };
    root.addEventListener("keydown", (event) => {
      if (event.key === "Escape" ? false : event.target.matches("input, select, button, summary")) return;
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    root.querySelector("tbody").addEventListener("click", (event) => {
      const line = event.target.closest("tr");
      if (line) this.set({ chunk: Number(line.dataset.chunk) });
    });
    new ResizeObserver(() => this.time.draw()).observe(this.time.scroll);
  }

  set(change) {
    Object.assign(this.state, change);
    this.show();
  }

  goTo(slot) {
    if (Number.isFinite(slot)) this.set({ slot: Math.max(0, Math.min(this.schedule.total_steps - 1, Math.trunc(slot))) });
  }

  play() {
    if (this.timer !== null) {
      clearInterval(this.timer);
      this.timer = null;
    } else {
      if (this.state.slot >= this.schedule.total_steps - 1) this.goTo(0);
      this.timer = setInterval(() => {
        this.goTo(this.state.slot + 1);
        if (this.state.slot >= this.schedule.total_steps - 1 && this.timer !== null) this.play();
      }, 1000 / Number(this.part("speed").value));
    }
    this.root.querySelector('[data-do="play"]').textContent = this.timer === null ? "▶ play" : "❚❚ pause";
  }

  clear() {
    for (const name of ["chunk", "channel", "node"]) this.part(name).value = "";
    this.say("");
    this.set({ chunk: null, channel: null, node: null });
  }

  say(text) {
    this.root.querySelector(".message").textContent = text;
  }

  // What was typed into the filters; what does not exist is named, and nothing changes.
  readFilters() {
    const { schedule } = this;
    const [chunk, channel, node] = ["chunk", "channel", "node"].map((name) => this.part(name).value.replace(/\s/g, ""));
    const number = (text) => (/^\d+$/.test(text) ? Number(text) : NaN);
    const place = channel ? schedule.channels.findIndex(([source, destination]) => `${source}>${destination}` === channel) : null;
    const known = Math.max(0, ...schedule.channels.map(([source, destination]) => Math.max(source, destination)));
    if (chunk && !(number(chunk) < schedule.chunks)) this.say(`chunks are 0 to ${schedule.chunks - 1}`);
    else if (place === -1) this.say(`no channel ${channel}; written as 0>1`);
    else if (node && !(number(node) <= known)) this.say(`nodes are 0 to ${known}`);
    else {
      this.say("");
      this.set({ chunk: chunk ? number(chunk) : null, channel: place, node: node ? number(node) : null });
    }
  }

  // A click on something: filter by it, or by nothing where it is the filter already.
  pick({ index, channel, node }) {
    const change = {};
    if (node !== undefined) change.node = this.state.node === node ? null : node;
    else if (index !== undefined) change.chunk = this.state.chunk === this.schedule.chunk[index] ? null : this.schedule.chunk[index];
    else if (channel !== undefined) change.channel = this.state.channel === channel ? null : channel;
    Object.assign(this.state, change);
    this.part("chunk").value = this.state.chunk === null ? "" : this.state.chunk;
    this.part("node").value = this.state.node === null ? "" : this.state.node;
    this.part("channel").value = this.state.channel === null ? "" : this.schedule.channelName(this.state.channel);
    this.show();
  }

  passes(index) {
    const { schedule, state } = this;
    if (state.chunk !== null && schedule.chunk[index] !== state.chunk) return false;
    if (state.channel === null && state.node === null) return true;
    const channels = schedule.channelsOf(index);
    if (state.channel !== null && !channels.includes(state.channel)) return false;
    if (state.node === null || schedule.src[index] === state.node || schedule.dst[index] === state.node) return true;
    return channels.some((channel) => schedule.channels[channel][0] === state.node || schedule.channels[channel][1] === state.node);
  }

  passesChannel(channel) {
    const { schedule, state } = this;
    if (state.channel !== null && channel !== state.channel) return false;
    return state.node === null || schedule.channels[channel][0] === state.node || schedule.channels[channel][1] === state.node;
  }

  show() {
    const { schedule, state } = this;
    const current = schedule.transfersAt(state.slot, state.passes);
    this.part("slot").value = state.slot;
    this.part("slider").value = state.slot;
    this.network.show(state, current);
    this.time.show(state);
    this.list(current);
    this.captions();
  }

  captions() {
    const { schedule, state } = this;
    const cycles = schedule.slot_cycles ? `, cycles ${(state.slot * schedule.slot_cycles).toLocaleString("en")} to ${((state.slot + 1) * schedule.slot_cycles).toLocaleString("en")}` : "";
    const [first, last] = schedule.iterationsAt(state.slot);
    const iterations = schedule.period ? `, iteration${first === last ? "" : "s"} ${first}${first === last ? "" : ` to ${last}`}` : "";
    this.part("network-caption").textContent = state.load ? `Share of each channel's capacity in use${schedule.period ? ", steady state" : ""}` : `Step ${state.slot} of ${schedule.total_steps - 1}${iterations}${cycles}`;
    const unit = schedule.slot_cycles ? `a column is a round of ${schedule.slot_cycles.toLocaleString("en")} cycles` : "a column is a round";
    this.part("time-caption").textContent = state.aggregate ? "Share of the capacity out of nodes in use, over time" : `Channels over time; ${unit}`;
    const legend = this.part("network-legend");
    legend.replaceChildren();
    if (state.load) legend.append(...schedule.shades.swatches());
    else if (state.chunk === null) legend.append(plain("colour: chunk; full line: reduce; dashed: copy; choose a chunk to see its tree grow"));
    else legend.append(swatch(REDUCE_COLOUR, "reduce"), swatch(COPY_COLOUR, "copy"), swatch(palette.root, "root"), swatch(palette.reached, "has a copy"), plain("thick: this step"));
    const times = this.part("time-legend");
    times.replaceChildren();
    if (state.aggregate) times.append(...schedule.aggregate.shades.swatches());
    else {
      COLOURS.slice(0, schedule.chunks).forEach((colour, chunk) => times.append(swatch(colour, chunk ? chunk : `chunk ${chunk}`)));
      times.append(plain(`${schedule.chunks > COLOURS.length ? "colours repeat; " : ""}full: reduce; light: copy${schedule.misfits.length || schedule.wrong.length ? "; framed red: breaks a rule" : ""}`));
    }
  }

  list(current) {
    const { schedule, state } = this;
    const count = `${current.length.toLocaleString("en")} transfer${current.length === 1 ? "" : "s"}`;
    this.part("list-caption").textContent = `Step ${state.slot}: ${count}${current.length > MOST_LISTED ? `, the first ${MOST_LISTED} are listed` : ""}`;
    this.root.querySelector(".list").classList.toggle("long", current.length > MOST_PRINTED);
    this.root.querySelector(".in-print").hidden = current.length <= MOST_PRINTED;
    const body = this.root.querySelector("tbody");
    const lines = current.slice(0, MOST_LISTED).map(({ index, iteration }) => {
      const line = document.createElement("tr");
      Object.assign(line.dataset, { row: schedule.rowOf(index), iteration, chunk: schedule.chunk[index] });
      if (schedule.isWrong.has(index)) line.className = "wrong";
      const channels = schedule.channelsOf(index).map((channel) => schedule.channelName(channel));
      const cells = [schedule.rowOf(index), iteration, schedule.chunk[index], schedule.op[index] === REDUCE ? "reduce" : "copy", schedule.src[index], schedule.dst[index], channels.join(" ")];
      for (const [place, cell] of cells.entries()) {
        const made = document.createElement("td");
        if (place === 2) made.append(swatch(colourOf(schedule.chunk[index]), cell));
        else made.textContent = cell;
        line.append(made);
      }
      return line;
    });
    body.replaceChildren(...lines);
  }

  print(printing) {
    this.time.printing = printing;
    this.show();
  }
}

function swatch(colour, text) {
  const item = document.createElement("span");
  const sample = document.createElement("span");
  sample.className = "swatch";
  sample.style.background = colour;
  item.append(sample, String(text));
  return item;
}

function plain(text) {
  const item = document.createElement("span");
  item.textContent = text;
  return item;
}

const schedules = JSON.parse(document.getElementById("data").textContent).map((data) => new Schedule(data));
const viewers = [...document.querySelectorAll(".viewer")].map((root) => new Viewer(root, schedules[Number(root.dataset.index)]));
const maps = [...document.querySelectorAll("svg.map")].map((map) => new NetworkView(map, schedules[Number(map.dataset.index)], () => {}));
for (const map of maps.filter((view) => view.shapes.length)) {
  map.showLoad();
  const legend = document.createElement("div");
  legend.className = "legend";
  legend.append(...map.schedule.shades.swatches());
  map.svg.after(legend);
}

// Colours follow the ground, which is light in print.
function recolour(printing) {
  palette = darkness.matches && !printing ? DARK : LIGHT;
  for (const viewer of viewers) viewer.print(printing);
  for (const map of maps.filter((view) => view.shapes.length)) map.showLoad();
}
window.addEventListener("beforeprint", () => recolour(true));
window.addEventListener("afterprint", () => recolour(false));
darkness.addEventListener("change", () => recolour(false));
