// The schedule of a view: which transfers a step of the run has, and which uses of channels lie in a range of rounds.

const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#6b6b6b", "#b8a700"];
const REDUCE = 0;

function colourOf(chunk) {
  return COLOURS[chunk % COLOURS.length];
}

// Colours of what is drawn, on a light and on a dark ground; print is light.
const LIGHT = {
  paper: "#ffffff", ink: "#1d2b36", grid: "#e6ebef", phase: "#f1f4f6", quiet: "#ccd6de", quieter: "#edf1f4", node: "#eef3f7", unit: "#f6e3b4",
  reached: "#bfdcf2", root: "#ffd84d", wrong: "#c8102e", idle: "#e3a6a6", faint: "#5b6b78", now: "#000000",
};
const DARK = {
  paper: "#12191f", ink: "#e8edf1", grid: "#26313a", phase: "#1d262e", quiet: "#4a5963", quieter: "#26313a", node: "#22303a", unit: "#4d4018",
  reached: "#1d4f73", root: "#8a6d00", wrong: "#ff7a7a", idle: "#7a4a4a", faint: "#a9b7c2", now: "#ffffff",
};
const darkness = window.matchMedia("(prefers-color-scheme: dark)");
let palette = darkness.matches ? DARK : LIGHT;

// A colour with little of itself and much of the ground.
function faded(colour) {
  const parts = (text) => [1, 3, 5].map((place) => parseInt(text.slice(place, place + 2), 16));
  const ground = parts(palette.paper);
  return `rgb(${parts(colour).map((part, place) => Math.round(part + (ground[place] - part) * 0.72)).join(",")})`;
}

const SHADES = [[233, 240, 247], [158, 197, 227], [62, 138, 194], [11, 79, 148], [6, 31, 74]];

// Shares in hundredths as shades, from the least to the greatest of them, so that large loads that differ look different.
class Shades {
  constructor(shares) {
    const busy = shares.filter((share) => share > 0);
    this.most = busy.reduce((most, share) => Math.max(most, share), 0);
    const least = busy.reduce((found, share) => Math.min(found, share), this.most);
    this.only = least === this.most && least > 0;
    const counts = new Map();
    for (const share of busy) counts.set(share, (counts.get(share) || 0) + 1);
    this.alike = Math.max(0, ...counts.values()) > 0.9 * shares.length; // then a picture of them shows nothing
    this.least = least === this.most || 2 * least < this.most ? 0 : least;
  }

  of(share) {
    return shade(this.most ? (share - this.least) / (this.most - this.least) : 0);
  }

  swatches() {
    if (this.only) return [swatch(this.of(this.most), `${this.most} %`)];
    return [0, 0.25, 0.5, 0.75, 1].map((part) => {
      const share = Math.round(this.least + part * (this.most - this.least));
      return swatch(this.of(share), `${share} %`);
    });
  }
}

// The shade of a part from 0 to 1, as in the pictures of `certree draw`.
function shade(part) {
  const place = Math.min(Math.max(part, 0), 1) * (SHADES.length - 1);
  const low = Math.min(Math.floor(place), SHADES.length - 2);
  return `rgb(${SHADES[low].map((part, index) => Math.round(part + (SHADES[low + 1][index] - part) * (place - low))).join(",")})`;
}

const TYPES = { u1: Uint8Array, u2: Uint16Array, i4: Int32Array };

// A column of numbers as `packing.py` writes it.
function unpacked({ type, bytes }) {
  const text = atob(bytes);
  const found = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place++) found[place] = text.charCodeAt(place);
  return new TYPES[type](found.buffer);
}

// Positions by key, in the order of the positions: those of `key` are places[starts[key]] to places[starts[key + 1]] (not included).
class Groups {
  constructor(keys, count, order = null) {
    this.starts = new Int32Array(count + 1);
    for (const key of keys) this.starts[key + 1]++;
    for (let key = 0; key < count; key++) this.starts[key + 1] += this.starts[key];
    this.places = new Int32Array(keys.length);
    const free = this.starts.slice(0, count);
    for (let turn = 0; turn < keys.length; turn++) {
      const place = order ? order[turn] : turn;
      this.places[free[keys[place]]++] = place;
    }
  }

  of(key) {
    return this.places.subarray(this.starts[key], this.starts[key + 1]);
  }
}

class Schedule {
  constructor(data) {
    Object.assign(this, data);
    for (const [name, value] of Object.entries(data)) if (value && value.bytes !== undefined) this[name] = unpacked(value);
    this.count = this.chunk.length;
    this.starts = null; // first round of each step, where steps have several
    if (data.rounds) {
      this.starts = [0];
      for (const rounds of data.rounds) this.starts.push(this.starts[this.starts.length - 1] + rounds);
    }
    this.iterationRounds = this.starts ? this.starts[data.steps] : data.steps;
    this.totalRounds = this.starts ? this.iterationRounds : data.total_steps;
    this.byStep = new Groups(this.step, data.steps);
    this.byChunk = new Groups(this.chunk, data.chunks);
    this.byChannel = new Groups(this.use_channel, data.channels.length); // uses, by round
    this.channelsInOrder = this.channelsByTransfer();
    this.longest = 1;
    for (const length of this.use_length || []) this.longest = Math.max(this.longest, length);
    this.shades = new Shades(data.load);
    if (data.aggregate) data.aggregate.shades = new Shades(data.aggregate.busy.flat());
    this.isMisfit = new Set(data.misfits);
    this.isWrong = new Set(data.wrong);
    this.lanes = new Map();
    this.use_channel.forEach((channel, use) => this.lanes.set(channel, Math.max(this.lanes.get(channel) || 1, this.use_lane[use] + 1)));
    this.used = [...this.lanes.keys()].sort((a, b) => a - b);
  }

  // The uses of each transfer, in the order of its route.
  channelsByTransfer() {
    if (!this.use_hop) return new Groups(this.use_row, this.count);
    const byHop = Int32Array.from(this.use_hop, (_, use) => use).sort((a, b) => this.use_hop[a] - this.use_hop[b] || a - b);
    return new Groups(this.use_row, this.count, byHop);
  }

  // The channels of a transfer, in the order of its route.
  channelsOf(index) {
    return Array.from(this.channelsInOrder.of(index), (use) => this.use_channel[use]);
  }

  // The iterations that are in flight in a step of the run: first and last.
  iterationsAt(slot) {
    if (!this.period) return [0, 0];
    return [Math.max(0, Math.ceil((slot - this.steps + 1) / this.period)), Math.min(this.repeats - 1, Math.floor(slot / this.period))];
  }

  // {index, iteration} of every transfer of a step of the run that the filter lets through.
  transfersAt(slot, passes) {
    const found = [];
    const [first, last] = this.iterationsAt(slot);
    for (let iteration = first; iteration <= last; iteration++) {
      const step = slot - iteration * (this.period || 0);
      if (step < 0 || step >= this.steps) continue;
      for (const index of this.byStep.of(step)) if (passes(index)) found.push({ index, iteration });
    }
    return found;
  }

  lengthOf(use) {
    return this.use_length ? this.use_length[use] : 1;
  }

  // Calls visit(use, round of the run, iteration) for the uses of a channel with a part in rounds low to high (not included).
  usesBetween(channel, low, high, visit) {
    const [first] = this.iterationsAt(Math.floor(low));
    const last = this.period ? Math.min(this.repeats - 1, Math.floor(high / this.period)) : 0;
    const uses = this.byChannel.of(channel);
    for (let iteration = first; iteration <= last; iteration++) {
      const shift = iteration * (this.period || 0);
      for (let place = firstAtLeast(uses, low - shift - this.longest + 1, (use) => this.use_round[use]); place < uses.length; place++) {
        const round = this.use_round[uses[place]] + shift;
        if (round >= high) break;
        if (round + this.lengthOf(uses[place]) > low) visit(uses[place], round, iteration);
      }
    }
  }

  roundOf(slot) {
    return this.starts ? this.starts[slot] : slot;
  }

  slotOf(round) {
    if (!this.starts) return Math.floor(round);
    let slot = 0;
    while (slot < this.steps - 1 && this.starts[slot + 1] <= round) slot++;
    return slot;
  }

  rowOf(index) {
    return this.row ? this.row[index] : index;
  }

  channelName(channel) {
    return `${this.channels[channel][0]}>${this.channels[channel][1]}`;
  }

  describe(index, iteration) {
    const operation = this.op[index] === REDUCE ? "reduce" : "copy";
    const when = this.step[index] + iteration * (this.period || 0);
    const which = this.period ? `, iteration ${iteration}` : "";
    return `step ${when}${which}: ${operation} of chunk ${this.chunk[index]}\n${this.src[index]} > ${this.dst[index]}, transfer ${this.rowOf(index)}`;
  }
}

function push(map, key, value) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

function firstAtLeast(sorted, value, of) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(sorted[middle]) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
