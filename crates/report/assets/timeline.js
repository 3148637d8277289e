// The time axis that all charts share: what is seen of it, zooming, reading values.

/** Left of the plots, for the labels of their scales: the same for all, so that times line up. */
const GUTTER = 52;

/** Steps of the axis, seconds. */
const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
  7200, 10800, 21600, 43200, 86400, 172800, 604800];

const timeline = (() => {
  const charts = [];
  const all = [0, data.end_s];
  let range = [...all];
  let timer = 0;
  const least = Math.max(0.05, data.end_s / 5000);

  const apply = chart => {
    chart.stale = false;
    chart.plot.setScale("x", { min: range[0], max: range[1] });
  };

  /** Shows what lies between two times; charts out of sight follow when they are seen. */
  const show = (from, to) => {
    let width = Math.min(Math.max(to - from, least), all[1] - all[0]);
    from = Math.min(Math.max(from, all[0]), all[1] - width);
    range = [from, from + width];
    for (const chart of charts) if (chart.seen) apply(chart); else chart.stale = true;
    const fine = width < 20 ? 1 : 0;
    const part = width < all[1] - all[0] - 1e-9;
    document.getElementById("range").textContent =
      part ? `${clock(range[0], fine)} to ${clock(range[1], fine)} of ${clock(all[1])}` : `0:00 to ${clock(all[1])}`;
    root.dataset.zoomed = part;
  };

  const zoom = (factor, centre = (range[0] + range[1]) / 2) =>
    show(centre - (centre - range[0]) * factor, centre + (range[1] - centre) * factor);
  const move = share => { const by = (range[1] - range[0]) * share; show(range[0] + by, range[1] + by); };
  const reset = () => show(...all);

  const tip = document.getElementById("tip");

  /** Puts what a chart says of a place beside it. */
  const look = (chart, left, top) => {
    const time = chart.plot.posToVal(left, "x");
    const said = chart.look(time, top);
    for (const other of charts) {
      if (other !== chart && other.seen) other.plot.setCursor({ left: other.plot.valToPos(time, "x"), top: -10 }, false);
    }
    if (!said) { tip.hidden = true; return; }
    tip.replaceChildren(...said);
    tip.hidden = false;
    const over = chart.plot.over.getBoundingClientRect();
    const [width, height] = [tip.offsetWidth, tip.offsetHeight];
    const x = over.left + left;
    const beside = x + 18 + width < innerWidth ? x + 18 : x - 18 - width;
    const y = Math.min(Math.max(over.top + Math.max(top, 0) - height / 3, 8), innerHeight - height - 8);
    tip.style.transform = `translate(${Math.round(Math.max(beside, 8))}px, ${Math.round(y)}px)`;
  };
  const unlook = () => {
    tip.hidden = true;
    for (const chart of charts) {
      chart.plot.setCursor({ left: -10, top: -10 }, false);
      chart.left?.();
    }
  };

  const say = (() => {
    const place = document.getElementById("say");
    return text => {
      clearTimeout(timer);
      timer = setTimeout(() => place.textContent = text, 250);
    };
  })();

  /** Keys of a chart that has the focus. */
  const keys = chart => event => {
    const { plot } = chart;
    const width = plot.over.clientWidth;
    const go = by => {
      const from = plot.cursor.left >= 0 ? plot.cursor.left : width / 2;
      plot.setCursor({ left: Math.min(Math.max(from + by, 0), width - 1), top: chart.row ?? plot.over.clientHeight / 2 });
      say([...tip.querySelectorAll("h4, .row, p")].map(line => line.textContent).join(", "));
    };
    const done = {
      ArrowLeft: () => event.shiftKey ? move(-0.25) : go(-Math.max(4, width / 100)),
      ArrowRight: () => event.shiftKey ? move(0.25) : go(Math.max(4, width / 100)),
      "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), "0": reset, Home: reset,
      Escape: unlook,
      ArrowUp: chart.step && (() => { chart.step(-1); go(0); }),
      ArrowDown: chart.step && (() => { chart.step(1); go(0); }),
      Enter: chart.open,
    }[event.key];
    if (!done || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    done();
  };

  /** The wheel zooms with Ctrl, or once the chart was clicked; sideways it moves. */
  const wheel = chart => event => {
    const asked = event.ctrlKey || event.metaKey || document.activeElement === chart.box;
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!asked && !(sideways && root.dataset.zoomed === "true")) return;
    event.preventDefault();
    if (sideways) { move(event.deltaX / 1000); return; }
    const left = event.clientX - chart.plot.over.getBoundingClientRect().left;
    zoom(Math.exp(Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY), 120) / 300), chart.plot.posToVal(left, "x"));
  };

  const decimals = step => step < 0.1 ? 2 : step < 1 ? 1 : 0;

  const xAxis = shown => ({
    scale: "x", show: true, size: shown ? 26 : 0, gap: 6, space: 64, incrs: STEPS,
    stroke: () => colour("quiet"), font: `12px ${FONT}`,
    grid: { stroke: () => colour("grid"), width: 1 },
    ticks: { show: false },
    values: (_, splits, __, ___, step) => shown ? splits.map(split => clock(split, decimals(step))) : splits.map(() => ""),
  });

  /** Marks of the run on a chart: dashed lines, named where there is room. */
  const marks = named => plot => {
    const { ctx, bbox } = plot;
    const ratio = uPlot.pxRatio;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour("mark");
    ctx.lineWidth = ratio;
    ctx.setLineDash([3 * ratio, 3 * ratio]);
    ctx.font = `600 ${11 * ratio}px ${FONT}`;
    ctx.textBaseline = "top";
    ctx.textAlign = "left";
    let free = -Infinity;
    for (const mark of data.marks) {
      if (mark.at_s < range[0] || mark.at_s > range[1]) continue;
      const x = Math.round(plot.valToPos(mark.at_s, "x", true));
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      if (!named) continue;
      const text = mark.name;
      const width = ctx.measureText(text).width;
      const left = x + width + 6 * ratio > bbox.left + bbox.width ? x - width - 4 * ratio : x + 4 * ratio;
      if (left < free) continue;
      ctx.fillText(text, left, bbox.top + 2 * ratio);
      free = left + width + 8 * ratio;
    }
    ctx.restore();
  };

  /**
   * Adds a chart. `chart` has `box` (its element), `options` and `values` of uPlot, `height` of the
   * plot, `look(time, top)` for what is shown of a place; `step` and `open` if it has rows.
   */
  const add = chart => {
    const { box } = chart;
    const size = () => ({ width: Math.max(box.clientWidth, 200), height: chart.height });
    const options = {
      ...size(), ms: 1, legend: { show: false }, padding: [6, 26, 0, 0], ...chart.options,
      cursor: {
        y: false, points: { show: false }, drag: { x: true, y: false, setScale: false, dist: 4, click: () => {} },
        bind: { dblclick: () => () => { reset(); return null; } },
      },
      hooks: {
        ...chart.options.hooks,
        draw: [...(chart.options.hooks?.draw ?? []), marks(chart.named)],
        setSelect: [plot => {
          const { left, width } = plot.select;
          if (width > 3) show(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }],
        setCursor: [plot => {
          const { left, top } = plot.cursor;
          if (left < 0) unlook(); else look(chart, left, top);
        }],
      },
    };
    chart.seen = true;
    chart.plot = new uPlot(options, chart.values, box);
    charts.push(chart);
    box.addEventListener("keydown", keys(chart));
    box.addEventListener("wheel", wheel(chart), { passive: false });
    box.addEventListener("focusout", unlook);
    let pressed = 0;
    box.addEventListener("pointerdown", event => { pressed = event.clientX; box.focus({ preventScroll: true }); });
    if (chart.open) box.addEventListener("click", event => { if (Math.abs(event.clientX - pressed) < 4) chart.open(); });
    new ResizeObserver(() => {
      if (!root.dataset.print && box.clientWidth && box.clientWidth !== chart.plot.width) chart.plot.setSize(size());
    }).observe(box);
    new IntersectionObserver(([entry]) => {
      chart.seen = entry.isIntersecting || Boolean(root.dataset.print);
      if (chart.seen && chart.stale) apply(chart);
    }, { rootMargin: "40px" }).observe(box);
    return chart;
  };

  /** Draws everything anew, after colours or widths changed. */
  const redraw = width => {
    colour.forget();
    for (const chart of charts) {
      chart.painted?.();
      if (width) chart.plot.setSize({ width, height: Math.round(chart.height * 0.82) });
      else if (chart.plot.width !== chart.box.clientWidth || chart.plot.height !== chart.height) chart.plot.setSize({ width: chart.box.clientWidth, height: chart.height });
      chart.plot.setScale("x", { min: range[0], max: range[1] });
      chart.plot.redraw(true, true);
    }
  };

  return { add, show, zoom, move, reset, redraw, unlook, xAxis, range: () => range, charts };
})();

/**
 * Draws a layer as blocks, one for each interval; where intervals are narrower than two pixels, one for
 * their mean, so that layers stay additive.
 */
const layers = (plot, index, first, last) => {
  const [times, values] = [plot.data[0], plot.data[index]];
  const { left, width } = plot.bbox;
  const each = Math.max(1, Math.ceil((last - first + 1) / (width / (2 * uPlot.pxRatio))));
  const fill = new Path2D();
  const floor = plot.valToPos(0, "y", true);
  const x = time => Math.round(Math.min(Math.max(plot.valToPos(time, "x", true), left), left + width));
  // The value at a time is of the interval before it; groups begin at multiples of their size.
  for (let begin = Math.max(1, first - first % each); begin <= last + 1 && begin < times.length; begin += each) {
    const end = Math.min(begin + each, times.length);
    let [sum, span] = [0, 0];
    for (let at = begin; at < end; at += 1) {
      if (values[at] === null) continue;
      sum += values[at] * (times[at] - times[at - 1]);
      span += times[at] - times[at - 1];
    }
    if (!span) continue;
    const [from, to] = [x(times[begin - 1]), x(times[end - 1])];
    const top = plot.valToPos(sum / span, "y", true);
    fill.rect(from, top, Math.max(to - from, 1), floor - top);
  }
  return { fill, stroke: null, clip: null, flags: 1 };
};

/** A chart of lines or layers over time. */
const lineChart = (figureElement, panel, { height, axis, named }) => {
  const hidden = new Set();
  const legend = figureElement.querySelector(".legend");
  const times = [data.bins.start_s, ...data.bins.end_s];
  // A figure is of the interval that ends at its time: the first is drawn back to its begin.
  const from = values => [values[0], ...values];

  /** Layers on one another, the topmost first, since each is painted down to the floor. */
  const layered = () => {
    const out = [];
    let below = null;
    for (const [index, series] of panel.series.entries()) {
      if (hidden.has(index)) { out.push(times.map(() => null)); continue; }
      const values = from(series.values);
      const base = below;
      const top = values.map((value, at) => value === null ? null : value + (base?.[at] ?? 0));
      below = top;
      out.push(top);
    }
    return out.reverse();
  };
  const lines = () => panel.series.map((series, index) => hidden.has(index) ? times.map(() => null) : from(series.values));
  const values = () => [times, ...(panel.stacked ? layered() : lines())];

  const stepped = uPlot.paths.stepped({ align: -1 });
  const straight = uPlot.paths.linear();
  const paths = (plot, index, first, last) =>
    (last - first > plot.bbox.width / 3 ? straight : stepped)(plot, index, first, last);
  const series = panel.series.map(of => ({
    scale: "y", points: { show: false }, paths: panel.stacked ? layers : paths,
    // Edges of layers would darken a picture of many points.
    stroke: () => panel.stacked ? null : colour(of.colour), width: panel.stacked ? 0 : 1.5,
    ...(panel.stacked ? { fill: () => colour(of.colour) } : {}),
  }));
  if (panel.stacked) series.reverse();

  const chart = timeline.add({
    box: figureElement.querySelector(".plot"), height, named,
    values: values(),
    options: {
      scales: {
        x: { time: false, range: () => timeline.range() },
        y: { range: (_, __, max) => panel.top ? [0, panel.top] : [0, max > 0 ? max * 1.06 : 1] },
      },
      axes: [timeline.xAxis(axis), {
        scale: "y", size: GUTTER, gap: 6, space: 34, stroke: () => colour("quiet"), font: `12px ${FONT}`,
        grid: { stroke: () => colour("grid"), width: 1 }, ticks: { show: false },
        values: (_, splits) => splits.map(split => split.toLocaleString("en-US")),
      }],
      series: [{}, ...series],
    },
    look: time => {
      const at = data.bins.end_s.findIndex(end => end >= time);
      const place = at < 0 ? data.bins.end_s.length - 1 : at;
      const begin = place ? data.bins.end_s[place - 1] : data.bins.start_s;
      const fine = data.bins.end_s[place] - begin < 2 ? 1 : 0;
      const head = make("h4", {}, `${clock(begin, fine)} – ${clock(data.bins.end_s[place], fine)}`, make("small", {}, panel.unit));
      const parts = panel.series[0].parts?.map(part => part.label) ?? [];
      const cell = values => make("td", {}, figure(values[place]));
      const line = of => make("tr", {}, make("th", {}, make("i", { class: "dot", colour: of.colour }), of.label),
        ...(of.parts ?? []).map(part => cell(part.values)), make("td", { class: "all" }, figure(of.values[place])));
      const rows = panel.series.filter((_, index) => !hidden.has(index)).map(line);
      if (panel.stacked && rows.length > 1 && !panel.top) {
        const known = panel.series.filter((of, index) => !hidden.has(index) && of.values[place] !== null);
        const sum = pick => known.length ? figure(known.reduce((sum, of) => sum + pick(of)[place], 0)) : "–";
        rows.push(make("tr", { class: "sum" }, make("th", {}, "All"),
          ...parts.map((_, part) => make("td", {}, sum(of => of.parts[part].values))), make("td", { class: "all" }, sum(of => of.values))));
      }
      const columns = parts.length ? [make("tr", { class: "head" }, make("th"), ...parts.map(part => make("td", {}, part)), make("td", {}, "both"))] : [];
      return [head, make("table", {}, ...columns, ...rows), ...data.running(time)];
    },
  });

  for (const [index, of] of panel.series.entries()) {
    const button = make("button", { type: "button", "aria-pressed": "true" }, make("i", { class: panel.stacked ? "dot" : "dot line", colour: of.colour }), of.label);
    button.addEventListener("click", () => {
      if (hidden.has(index)) hidden.delete(index); else hidden.add(index);
      button.setAttribute("aria-pressed", String(!hidden.has(index)));
      chart.plot.setData(values(), false);
      chart.plot.setScale("x", { min: timeline.range()[0], max: timeline.range()[1] });
    });
    legend.append(button);
  }
  return chart;
};
