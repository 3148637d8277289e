// Puts the charts into the page and answers to its buttons, to the theme and to printing.

/** Jobs running at a time, for what a look at a chart shows. */
data.running = (() => {
  const starts = data.jobs.map(job => job.start_s).filter(time => time !== undefined).sort((a, b) => a - b);
  const ends = data.jobs.map(job => job.end_s).filter(time => time !== undefined).sort((a, b) => a - b);
  const before = (times, time) => {
    let [low, high] = [0, times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle + 1; else high = middle;
    }
    return low;
  };
  return time => {
    const running = before(starts, time) - before(ends, time);
    const near = data.marks.filter(mark => Math.abs(mark.at_s - time) < (timeline.range()[1] - timeline.range()[0]) / 100);
    return [make("p", {}, `${whole(running)} ${running === 1 ? "job" : "jobs"} running`),
      ...near.map(mark => make("p", { class: "mark" }, `${mark.name}${mark.detail ? `: ${mark.detail}` : ""}`))];
  };
})();

const panel = id => data.panels.find(of => of.id === id);
const throughput = document.getElementById("throughput");
if (throughput) lineChart(throughput, panel("throughput"), { height: 268, axis: true, named: true });
gantt(document.getElementById("gantt"));
if (data.latency) heatmap(document.getElementById("latency"));
for (const figureElement of document.querySelectorAll("figure[data-panel]")) {
  if (figureElement !== throughput) lineChart(figureElement, panel(figureElement.dataset.panel), { height: 176, axis: true, named: false });
}
jobTable(document.getElementById("job-table"));

const doing = {
  left: () => timeline.move(-0.25), right: () => timeline.move(0.25),
  in: () => timeline.zoom(0.5), out: () => timeline.zoom(2), all: () => timeline.reset(),
};
document.querySelector(".toolbar").addEventListener("click", event => doing[event.target.dataset.do]?.());
timeline.reset();

const theme = document.querySelector(".theme");
const named = () => theme.textContent = isDark() ? "Light" : "Dark";
theme.hidden = false;
named();
theme.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  named();
  timeline.redraw();
});
systemDark.addEventListener("change", () => { named(); timeline.redraw(); });

// On paper: light, as wide as a page and low enough that throughput and jobs stand on one.
let before = null;
addEventListener("beforeprint", () => {
  before = root.dataset.theme ?? "";
  timeline.unlook();
  root.dataset.theme = "light";
  root.dataset.print = "yes";
  timeline.redraw(690);
});
addEventListener("afterprint", () => {
  delete root.dataset.print;
  if (before) root.dataset.theme = before; else delete root.dataset.theme;
  timeline.redraw();
});

// Pictures of the page are taken when this says so.
document.fonts.ready.then(() => { timeline.redraw(); root.dataset.ready = "yes"; });
