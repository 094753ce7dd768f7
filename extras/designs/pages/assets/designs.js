// The charts of the page, and the selection of networks that all of its parts share.

const DATA = JSON.parse(document.getElementById("data").textContent);
const SPACE = "http://www.w3.org/2000/svg";
const SIZE = { width: 640, height: 330, left: 64, right: 14, top: 12, bottom: 46 };
const kept = new Set();
let pointed = null;

function colour(network) {
  return DATA.colours[DATA.networks.indexOf(network)];
}

function add(parent, tag, attributes, text) {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function bytes(size) {
  for (const [unit, factor] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
    if (size % factor === 0) return `${size / factor} ${unit}`;
  }
  return `${size} B`;
}

function words(value) {
  return Number(value.toPrecision(4)).toLocaleString("en");
}

function show(event, text) {
  const tip = document.getElementById("tip");
  tip.textContent = text;
  tip.hidden = false;
  tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8)}px`;
}

// Round values between 0, or the least one of a logarithmic scale, and the most.
function ticks(low, high, log) {
  if (log) {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
      for (const digit of [1, 2, 5]) found.push(digit * 10 ** power);
    }
    const inside = found.filter((value) => value >= low / 1.001 && value <= high * 1.001);
    return inside.length > 8 ? inside.filter((value) => Math.log10(value) % 1 === 0) : inside;
  }
  const rough = high / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((value) => value >= rough);
  return Array.from({ length: Math.floor(high / step) + 1 }, (_, index) => index * step);
}

class Chart {
  constructor(chart, parent) {
    this.chart = chart;
    const figure = parent.appendChild(document.createElement("figure"));
    const caption = figure.appendChild(document.createElement("figcaption"));
    caption.textContent = chart.title;
    if (chart.note) figure.appendChild(Object.assign(document.createElement("div"), { className: "note", textContent: chart.note }));
    this.svg = add(figure, "svg", { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, role: "img", "aria-label": chart.title });
    this.groups = [...new Set(chart.curves.flatMap((curve) => curve.points.map((point) => point[0])))];
    if (chart.x_scale !== "names") this.groups.sort((a, b) => a - b);
    const values = chart.curves.flatMap((curve) => [...curve.points.map((point) => point[1]), ...curve.low, ...curve.high]);
    const log = chart.y_scale === "log";
    this.low = log ? Math.min(...values) / 1.1 : 0;
    this.high = Math.max(...values) * (log ? 1.1 : 1.05) || 1;
    this.axes(log);
    for (const curve of chart.curves) if (curve.points.length) this.curve(curve);
  }

  x(value) {
    const room = SIZE.width - SIZE.left - SIZE.right;
    const count = this.groups.length;
    if (this.chart.x_scale === "names") return SIZE.left + ((this.groups.indexOf(value) + 0.5) / count) * room;
    const at = this.chart.x_scale === "linear" ? (one) => one : Math.log2;
    const [first, last] = [at(this.groups[0]), at(this.groups[count - 1])];
    return SIZE.left + 14 + (last > first ? (at(value) - first) / (last - first) : 0.5) * (room - 28);
  }

  y(value) {
    const at = this.chart.y_scale === "log" ? Math.log : (one) => one;
    const part = (at(value) - at(this.low)) / (at(this.high) - at(this.low));
    return SIZE.height - SIZE.bottom - part * (SIZE.height - SIZE.top - SIZE.bottom);
  }

  axes(log) {
    for (const value of ticks(this.low || 1e-12, this.high, log)) {
      const y = this.y(value);
      add(this.svg, "line", { class: "grid", x1: SIZE.left, x2: SIZE.width - SIZE.right, y1: y, y2: y });
      add(this.svg, "text", { x: SIZE.left - 8, y: y + 4, "text-anchor": "end" }, words(value));
    }
    const every = Math.ceil(this.groups.length / 8);
    this.groups.forEach((group, index) => {
      if (index % every) return;
      const text = this.chart.x_scale === "bytes" ? bytes(group) : String(group);
      const short = text.length > 22 ? `${text.slice(0, 21)}…` : text;
      add(this.svg, "text", { x: this.x(group), y: SIZE.height - SIZE.bottom + 18, "text-anchor": "middle" }, short);
    });
    add(this.svg, "text", { x: (SIZE.left + SIZE.width) / 2, y: SIZE.height - 6, "text-anchor": "middle" }, this.chart.x_label);
    const turned = `translate(14 ${(SIZE.height - SIZE.bottom) / 2}) rotate(-90)`;
    add(this.svg, "text", { transform: turned, "text-anchor": "middle" }, this.chart.y_label);
  }

  curve(curve) {
    const fill = colour(curve.network);
    const group = add(this.svg, "g", { class: "series network", "data-network": curve.network });
    if (this.chart.x_scale === "names") {
      const width = (0.8 * (SIZE.width - SIZE.left - SIZE.right)) / this.groups.length / DATA.networks.length;
      const shift = (DATA.networks.indexOf(curve.network) - DATA.networks.length / 2) * width;
      for (const [x, y] of curve.points) {
        const bar = { x: this.x(x) + shift, y: this.y(y), width, height: Math.max(0, this.y(this.low) - this.y(y)), fill };
        this.tip(add(group, "rect", bar), curve, x, y);
      }
      return;
    }
    const place = (x, y) => `${this.x(x).toFixed(1)},${this.y(y).toFixed(1)}`;
    if (curve.low.length) {
      const up = curve.points.map(([x], index) => place(x, curve.high[index]));
      const down = curve.points.map(([x], index) => place(x, curve.low[index])).reverse();
      add(group, "polygon", { points: [...up, ...down].join(" "), fill, opacity: 0.18 });
    }
    const points = curve.points.map(([x, y]) => place(x, y)).join(" ");
    add(group, "polyline", { points, fill: "none", stroke: fill, "stroke-width": 2 });
    add(group, "polyline", { points, fill: "none", stroke: "transparent", "stroke-width": 12 });
    curve.points.forEach(([x, y], index) => {
      const mark = add(group, "circle", { cx: this.x(x), cy: this.y(y), r: 4.5, fill });
      this.tip(mark, curve, x, y, curve.low.length ? [curve.low[index], curve.high[index]] : null);
    });
  }

  tip(mark, curve, x, y, band) {
    const at = this.chart.x_scale === "bytes" ? bytes(x) : this.chart.x_scale === "names" ? x : `${this.chart.x_label} ${x}`;
    const range = band ? `\nall draws: ${words(band[0])} to ${words(band[1])}` : "";
    mark.addEventListener("pointermove", (event) => show(event, `${curve.network}\n${at}\n${this.chart.y_label}: ${words(y)}${range}`));
    mark.addEventListener("pointerleave", () => { document.getElementById("tip").hidden = true; });
  }
}

// Light what is pointed at or kept, in every part of the page.
function light() {
  const lit = pointed === null ? kept : new Set([...kept, pointed]);
  for (const one of document.querySelectorAll(".network")) {
    one.classList.toggle("lit", lit.has(one.dataset.network));
    if (one.hasAttribute("aria-pressed")) one.setAttribute("aria-pressed", String(kept.has(one.dataset.network)));
  }
  for (const svg of document.querySelectorAll("#charts svg")) svg.classList.toggle("some", lit.size > 0);
}

for (const chart of DATA.charts) new Chart(chart, document.getElementById("charts"));
for (const one of document.querySelectorAll(".network")) {
  one.addEventListener("pointerenter", () => { pointed = one.dataset.network; light(); });
  one.addEventListener("pointerleave", () => { pointed = null; light(); });
  one.addEventListener("click", () => {
    if (!kept.delete(one.dataset.network)) kept.add(one.dataset.network);
    light();
  });
}
document.getElementById("dark").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.classList.contains("dark") || (!root.classList.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches);
  root.classList.toggle("dark", !dark);
  root.classList.toggle("light", dark);
});
