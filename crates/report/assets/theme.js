// Colours from the style sheet, and the switch between light and dark.

const root = document.documentElement;

/** What the charts are drawn from. */
const data = JSON.parse(document.getElementById("data").textContent);

/** A colour of the style sheet by its name there, for a canvas. */
const colour = (() => {
  let known = new Map();
  const read = name => {
    if (!known.has(name)) known.set(name, getComputedStyle(root).getPropertyValue(`--${name}`).trim());
    return known.get(name);
  };
  read.forget = () => known = new Map();
  return read;
})();

const systemDark = matchMedia("(prefers-color-scheme: dark)");

const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches;

/** Whether what moves should not. */
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

const FONT = '"Source Sans 3", "Segoe UI", system-ui, sans-serif';
