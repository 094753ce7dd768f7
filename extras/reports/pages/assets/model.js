// The schedule of a view: which transfers a step of the run has, and which uses of channels lie in a range of rounds.

const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#6b6b6b", "#b8a700"];
const REDUCE = 0;

function colourOf(chunk) {
  return COLOURS[chunk % COLOURS.length];
}

function lightened(colour) {
  const parts = [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16));
  return `rgb(${parts.map((part) => Math.round(part + (255 - part) * 0.72)).join(",")})`;
}

const SHADES = [[233, 240, 247], [158, 197, 227], [62, 138, 194], [11, 79, 148], [6, 31, 74]];

// The shade of a share from 0 to 1, as in the pictures of `certree draw`.
function shade(share) {
  const place = Math.min(Math.max(share, 0), 1) * (SHADES.length - 1);
  const low = Math.min(Math.floor(place), SHADES.length - 2);
  return `rgb(${SHADES[low].map((part, index) => Math.round(part + (SHADES[low + 1][index] - part) * (place - low))).join(",")})`;
}

class Schedule {
  constructor(data) {
    Object.assign(this, data);
    this.count = data.chunk.length;
    this.starts = null; // first round of each step, where steps have several
    if (data.rounds) {
      this.starts = [0];
      for (const rounds of data.rounds) this.starts.push(this.starts[this.starts.length - 1] + rounds);
    }
    this.iterationRounds = this.starts ? this.starts[data.steps] : data.steps;
    this.totalRounds = this.starts ? this.iterationRounds : data.total_steps;
    this.byStep = new Map();
    for (let index = 0; index < this.count; index++) push(this.byStep, data.step[index], index);
    this.channelsOf = new Map(); // position of a transfer -> its channels, in the order of its route
    const uses = data.use_row.map((_, use) => use);
    if (data.use_hop) uses.sort((a, b) => data.use_hop[a] - data.use_hop[b]);
    for (const use of uses) push(this.channelsOf, data.use_row[use], data.use_channel[use]);
    this.longest = data.use_length ? Math.max(1, ...data.use_length) : 1;
    this.isMisfit = new Set(data.misfits);
    this.isWrong = new Set(data.wrong);
    this.used = [...new Set(data.use_channel)].sort((a, b) => a - b);
    this.lanes = new Map();
    data.use_channel.forEach((channel, use) => this.lanes.set(channel, Math.max(this.lanes.get(channel) || 1, data.use_lane[use] + 1)));
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
      for (const index of this.byStep.get(slot - iteration * (this.period || 0)) || []) {
        if (passes(index)) found.push({ index, iteration });
      }
    }
    return found;
  }

  lengthOf(use) {
    return this.use_length ? this.use_length[use] : 1;
  }

  // Calls visit(use, round of the run, iteration) for all uses with a part in rounds low to high (not included).
  usesBetween(low, high, visit) {
    const [first] = this.iterationsAt(Math.floor(low));
    const last = this.period ? Math.min(this.repeats - 1, Math.floor(high / this.period)) : 0;
    for (let iteration = first; iteration <= last; iteration++) {
      const shift = iteration * (this.period || 0);
      for (let use = firstAtLeast(this.use_round, low - shift - this.longest + 1); use < this.use_round.length; use++) {
        const round = this.use_round[use] + shift;
        if (round >= high) break;
        if (round + this.lengthOf(use) <= low) continue;
        visit(use, round, iteration);
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

function firstAtLeast(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
