// Channels over time on a canvas: a row for each channel, a column for each round; or shares in use by node.

const LEFT = 74;
const TOP = 34;
const WIDTHS = [1, 2, 3, 5, 8, 12, 18, 26, 36];
const TALLEST = 22;
const PAGE = 1150; // pixels of the rows of a printed page
const EVERY = [1, 2, 5, 10, 20, 50, 100, 200, 500]; // columns from one number to the next

class SpaceTime {
  constructor(pane, schedule, onPick) {
    this.schedule = schedule;
    this.scroll = pane.querySelector(".scroll");
    this.spacer = pane.querySelector(".spacer");
    this.canvas = pane.querySelector("canvas");
    this.level = WIDTHS.length - 4;
    while (this.level < WIDTHS.length - 1 && schedule.totalRounds * WIDTHS[this.level + 1] < this.scroll.clientWidth - LEFT - 18) this.level++;
    this.first = 0; // round at the left
    this.printing = false;
    this.onPick = onPick;
    this.scroll.addEventListener("scroll", () => this.draw());
    this.canvas.addEventListener("mousemove", (event) => this.hover(event));
    this.canvas.addEventListener("mouseleave", hideTip);
    this.canvas.addEventListener("click", (event) => {
      const found = this.at(event);
      if (found) onPick(found);
    });
    this.canvas.addEventListener("wheel", (event) => {
      if (!event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
      event.preventDefault();
      this.moveTo(this.first + Math.sign(event.deltaX || event.deltaY) * Math.max(1, Math.round(40 / this.width)));
      this.draw();
    }, { passive: false });
  }

  get width() {
    return this.aggregate ? Math.max(1, (this.scroll.clientWidth - LEFT - 8) / this.schedule.aggregate.busy[0].length) : WIDTHS[this.level];
  }

  get height() {
    if (this.printing) return Math.max(3, Math.min(12, PAGE / this.rows));
    return this.aggregate ? 11 : Math.min(TALLEST, Math.max(7, this.width));
  }

  get columns() {
    return Math.max(1, Math.floor((this.scroll.clientWidth - LEFT - 18) / this.width));
  }

  zoom(by) {
    const middle = this.first + this.columns / 2;
    this.level = Math.min(WIDTHS.length - 1, Math.max(0, this.level + by));
    this.moveTo(Math.round(middle - this.columns / 2));
    this.draw();
  }

  moveTo(round) {
    this.first = Math.max(0, Math.min(round, this.schedule.totalRounds - this.columns));
  }

  // Show a state: the step, the filter, and whether shares are shown.
  show(state) {
    this.state = state;
    this.aggregate = state.aggregate;
    const filters = `${state.channel} ${state.node}`;
    if (filters !== this.filters) this.choose(state);
    this.filters = filters;
    const round = this.schedule.roundOf(state.slot);
    if (round < this.first || round >= this.first + this.columns) this.moveTo(round - Math.floor(this.columns / 3));
    this.draw();
  }

  // The channels that have lines, and the row in which each begins.
  choose(state) {
    this.lines = this.schedule.used.filter((channel) => state.passesChannel(channel));
    this.tops = [0];
    for (const channel of this.lines) this.tops.push(this.tops[this.tops.length - 1] + Math.min(8, this.schedule.lanes.get(channel) || 1));
  }

  get rows() {
    return this.aggregate ? this.schedule.aggregate.rows.length : this.tops[this.tops.length - 1];
  }

  draw() {
    if (!this.state) return;
    const full = this.rows * this.height + TOP + 6;
    const wide = this.scroll.clientWidth;
    const tall = this.printing ? Math.min(full, 6000) : Math.min(full, 560);
    this.spacer.style.height = `${full}px`;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = wide * ratio;
    this.canvas.height = tall * ratio;
    this.canvas.style.width = `${wide}px`;
    this.canvas.style.height = `${tall}px`;
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.fillStyle = palette.paper;
    pen.fillRect(0, 0, wide, tall);
    this.pen = pen;
    this.down = this.printing ? 0 : this.scroll.scrollTop;
    this.limit = tall;
    if (this.aggregate) this.drawShares();
    else this.drawUses();
    this.drawAxis(wide);
  }

  // Row of lanes -> y, below the axis and moved by scrolling.
  y(row) {
    return TOP + row * this.height - this.down;
  }

  drawUses() {
    const { pen, schedule, state, width, height } = this;
    const last = this.first + this.columns;
    this.drawPhases(last);
    pen.font = `${Math.min(11, height)}px Helvetica, Arial, sans-serif`;
    pen.textBaseline = "middle";
    const boxes = [];
    for (let line = 0; line < this.lines.length; line++) {
      const y = this.y(this.tops[line]);
      const below = this.y(this.tops[line + 1]);
      if (below < TOP || y > this.limit) continue;
      pen.fillStyle = palette.grid;
      pen.fillRect(LEFT, below - 1, (last - this.first) * width, 0.6);
      pen.fillStyle = palette.ink;
      pen.textAlign = "right";
      pen.fillText(schedule.channelName(this.lines[line]), LEFT - 8, (y + below) / 2);
      schedule.usesBetween(this.lines[line], this.first, last, (use, round) => {
        const index = schedule.use_row[use];
        if (!state.passes(index)) return;
        boxes.push([use, index, LEFT + (round - this.first) * width, y + Math.min(7, schedule.use_lane[use]) * height]);
      });
    }
    pen.textAlign = "center";
    const numbered = height >= 8;
    if (numbered) pen.font = `${Math.min(10, height - 2)}px Helvetica, Arial, sans-serif`;
    const gap = width >= 5 ? 1 : 0;
    for (const [use, index, x, y] of boxes) {
      const chunk = schedule.chunk[index];
      const reduce = schedule.op[index] === REDUCE;
      pen.fillStyle = reduce ? colourOf(chunk) : faded(colourOf(chunk));
      const wide = width * schedule.lengthOf(use) - gap;
      pen.fillRect(x, y + 0.5, wide, height - 1);
      if (!reduce && width >= 5) {
        pen.strokeStyle = colourOf(chunk);
        pen.strokeRect(x + 0.5, y + 1, wide - 1, height - 2);
      }
      if (schedule.isMisfit.has(use) || schedule.isWrong.has(index)) {
        pen.strokeStyle = palette.wrong;
        pen.lineWidth = 2;
        pen.strokeRect(x + 1, y + 1, wide - 2, height - 2);
        pen.lineWidth = 1;
      }
      if (numbered && String(chunk).length * 7 <= wide - 1) {
        pen.fillStyle = reduce && ![1, 3, 4, 7].includes(chunk % 8) ? "#fff" : reduce ? "#1d2b36" : palette.ink;
        pen.fillText(chunk, x + wide / 2, y + height / 2 + 0.5);
      }
    }
    const now = schedule.roundOf(state.slot);
    const rounds = schedule.starts ? schedule.rounds[state.slot] : 1;
    if (now + rounds > this.first && now < last) {
      pen.strokeStyle = palette.now;
      pen.lineWidth = 1.6;
      const left = LEFT + (now - this.first) * width;
      pen.strokeRect(left - 0.5, TOP - 2, rounds * width, this.y(this.rows) - TOP + 4 + this.down);
      pen.lineWidth = 1;
    }
  }

  // Shaded grounds of prologue and epilogue, where iterations repeat.
  drawPhases(last) {
    const { pen, schedule, width } = this;
    if (!schedule.period) return;
    const stages = Math.ceil(schedule.steps / schedule.period) - 1;
    this.phases = [[0, Math.min(stages, schedule.repeats) * schedule.period, "prologue"], [schedule.repeats * schedule.period, schedule.totalRounds, "epilogue"]];
    for (const [from, to] of this.phases) {
      const low = Math.max(from, this.first);
      const high = Math.min(to, last);
      pen.fillStyle = palette.phase;
      if (high > low) pen.fillRect(LEFT + (low - this.first) * width, TOP, (high - low) * width, this.limit);
    }
  }

  drawShares() {
    const { pen, schedule, width, height } = this;
    const { rows, busy, shades } = schedule.aggregate;
    pen.font = "10px Helvetica, Arial, sans-serif";
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    rows.forEach((name, row) => {
      const y = this.y(row);
      if (y + height < TOP || y > this.limit) return;
      pen.fillStyle = palette.ink;
      pen.fillText(name, LEFT - 8, y + height / 2);
      busy[row].forEach((share, column) => {
        if (!share) return;
        pen.fillStyle = shades.of(share);
        const left = Math.round(LEFT + column * width);
        pen.fillRect(left, y, Math.round(LEFT + (column + 1) * width) - left, height - 1);
      });
    });
  }

  drawAxis(wide) {
    const { pen, schedule, width } = this;
    pen.fillStyle = palette.paper;
    pen.fillRect(0, 0, wide, TOP - 1);
    pen.fillStyle = palette.ink;
    pen.font = "11px Helvetica, Arial, sans-serif";
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    pen.fillText("step", LEFT - 8, TOP - 11);
    pen.textAlign = "center";
    if (this.aggregate) {
      const { rounds, busy } = schedule.aggregate;
      const every = Math.max(1, Math.ceil((busy[0].length * 46) / (wide - LEFT) / 1));
      for (let column = 0; column < busy[0].length; column += every) {
        pen.fillText(schedule.slotOf(Math.floor((column * rounds) / busy[0].length)), LEFT + (column + 0.5) * width, TOP - 11);
      }
      return;
    }
    const digits = String(schedule.total_steps).length;
    const every = EVERY.find((count) => count * width >= 7 * digits + 14) || EVERY[EVERY.length - 1];
    let free = LEFT;
    for (let round = this.first; round < Math.min(this.first + this.columns, schedule.totalRounds); round++) {
      const slot = schedule.slotOf(round);
      if (schedule.roundOf(slot) !== round || (!schedule.starts && slot % every)) continue;
      const rounds = schedule.starts ? schedule.rounds[slot] : 1;
      const x = LEFT + (round - this.first + rounds / 2) * width;
      const text = String(slot);
      if (x - 4 * text.length < free) continue;
      pen.fillText(text, x, TOP - 11);
      free = x + 4 * text.length + 10;
    }
    pen.fillStyle = palette.faint;
    for (const [from, to, name] of this.phases || []) {
      const low = Math.max(from, this.first);
      const high = Math.min(to, this.first + this.columns);
      if ((high - low) * width > 60) pen.fillText(name, LEFT + ((low + high) / 2 - this.first) * width, 9);
    }
  }

  // What is below the pointer: {index, iteration, channel}, or {channel} of an empty place, or {text} of a share.
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const row = Math.floor((event.clientY - box.top - TOP + this.down) / this.height);
    if (row < 0 || row >= this.rows || event.clientY - box.top < TOP) return null;
    if (this.aggregate) return this.shareAt(row, Math.floor((x - LEFT) / this.width));
    let line = 0;
    while (this.tops[line + 1] <= row) line++;
    const channel = this.lines[line];
    const round = this.first + Math.floor((x - LEFT) / this.width);
    let found = { channel };
    if (x < LEFT) return found;
    this.schedule.usesBetween(channel, round, round + 1, (use, _, iteration) => {
      const same = Math.min(7, this.schedule.use_lane[use]) === row - this.tops[line];
      if (same && this.state.passes(this.schedule.use_row[use])) found = { channel, index: this.schedule.use_row[use], iteration };
    });
    return found;
  }

  shareAt(row, column) {
    const share = (this.schedule.aggregate.busy[row] || [])[column];
    return share === undefined ? null : { text: `out of ${this.schedule.aggregate.rows[row]}: ${share} % of the capacity in use` };
  }

  hover(event) {
    const found = this.at(event);
    if (!found) return hideTip();
    const free = found.channel === undefined ? "" : `channel ${this.schedule.channelName(found.channel)}`;
    return showTip(event, found.text || (found.index === undefined ? free : this.schedule.describe(found.index, found.iteration)));
  }
}
