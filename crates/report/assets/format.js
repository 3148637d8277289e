// Numbers and small pieces of the page, written as the server writes them.

/** Three significant digits, thousands apart. */
const figure = value => {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const decimals = size === 0 ? 0 : size < 0.0995 ? 3 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
};

const whole = value => value.toLocaleString("en-US");

/** Bytes in decimal units. */
const bytesText = value => {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let unit = 0;
  while (value >= 999.5 && unit + 1 < units.length) { value /= 1000; unit += 1; }
  return `${unit ? figure(value) : value} ${units[unit]}`;
};

/** As the axis counts: 0:42, 1:02:03, with decimals where the axis is that fine. */
const clock = (seconds, decimals = 0) => {
  const sign = seconds < -0.5 * 10 ** -decimals ? "−" : "";
  const ticks = Math.round(Math.abs(seconds) * 10 ** decimals);
  const size = 10 ** decimals;
  const s = Math.floor(ticks / size);
  const rest = decimals ? `.${String(ticks % size).padStart(decimals, "0")}` : "";
  const two = number => String(number).padStart(2, "0");
  const [h, m] = [Math.floor(s / 3600), Math.floor(s / 60) % 60];
  return sign + (h ? `${h}:${two(m)}:` : `${m}:`) + two(s % 60) + rest;
};

const duration = seconds => {
  const s = Math.round(seconds);
  if (seconds < 59.95) return `${short(seconds)} s`;
  if (s < 3600 && s % 60 === 0) return `${s / 60} min`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${String(s % 60).padStart(2, "0")} s`;
  return `${Math.floor(s / 3600)} h ${String(Math.floor(s / 60) % 60).padStart(2, "0")} min`;
};

/** A round number without its zeros. */
const short = value => { const text = figure(value); return text.includes(".") ? text.replace(/\.?0+$/, "") : text; };

const latencyText = us => us < 1e3 ? `${short(us)} µs` : us < 1e6 ? `${short(us / 1e3)} ms` : `${short(us / 1e6)} s`;

/** About that much, for an axis. */
const roundLatency = us => us < 1e3 ? `${us} µs` : us < 1e6 ? `${Math.round(us / 1024)} ms` : `${Math.round(us / 1048576)} s`;

const CHANNEL = { input: "Input", output: "Output", work: "WORK", util: "Utility" };

const OUTCOME = {
  good: "verified", unchecked: "not checked", wrong: "output wrong",
  errors: "ended with errors", signal: "ended by a signal", unfinished: "did not finish",
};

/** An element with its attributes and children; text is always text. */
const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "colour") element.style.setProperty("--c", `var(--${value})`);
    else if (key === "class") element.className = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
};

/** A line of a legend or of what a look shows: a spot of colour, a name, a value. */
const keyed = (colourName, label, value) =>
  make("div", { class: "row" }, make("i", { class: "dot", colour: colourName }), make("span", {}, label), make("b", {}, value));
