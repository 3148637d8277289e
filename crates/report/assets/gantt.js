// Jobs as bars on the time axis.

/** Below this many jobs each has a row and a name. */
const NAMED_ROWS = 60;

const gantt = figureElement => {
  const jobs = data.jobs.map((job, index) => ({ ...job, index, from: job.start_s, to: job.end_s ?? data.end_s }))
    .filter(job => job.from !== undefined).sort((a, b) => a.from - b.from || a.to - b.to);
  const named = jobs.length <= NAMED_ROWS;
  let rows = jobs.length;
  if (named) jobs.forEach((job, row) => job.row = row);
  else {
    const free = [];
    for (const job of jobs) {
      let row = free.findIndex(end => end <= job.from);
      if (row < 0) row = free.push(0) - 1;
      free[row] = job.to;
      job.row = row;
    }
    rows = free.length;
  }
  const byRow = Array.from({ length: rows }, () => []);
  for (const job of jobs) byRow[job.row].push(job);
  const pitch = named ? 17 : Math.max(0.8, Math.min(12, 460 / Math.max(rows, 1)));
  const height = Math.max(60, Math.round(rows * pitch) + 34);
  let mode = "channel";
  let chosen = null;

  const classes = [...new Set(data.jobs.map(job => job.class).filter(Boolean))].sort();
  const personas = [...new Set(data.jobs.map(job => job.persona).filter(Boolean))].sort();
  const moved = step => step.bytes.reduce((sum, [, read, written]) => sum + read + written, 0);
  const nth = (list, name) => `line-${list.indexOf(name) % 6 + 1}`;

  /** The colour of a step: of the channel that carried most of it, or of its share of computing. */
  const shade = (job, step) => {
    if (mode === "class") return colour(job.class ? nth(classes, job.class) : "idle");
    if (mode === "persona") return colour(job.persona ? nth(personas, job.persona) : "idle");
    if (!step || step.sleep_s > step.real_s / 2) return colour("idle");
    if (mode === "cpu") {
      const share = step.real_s > 0 ? Math.min(step.cpu_s / step.real_s, 1) : 0;
      return colour(`heat-${Math.min(5, Math.floor(share * 5) + 1)}`);
    }
    const all = moved(step);
    if (all < step.real_s * 1e6) return colour("idle");
    return colour(step.bytes.reduce((most, of) => of[1] + of[2] > most[1] + most[2] ? of : most)[0]) || colour("idle");
  };

  let shades = null;
  /** Colours of all bars and steps, looked up once for each way of colouring. */
  const paint = () => {
    shades = [];
    for (const job of jobs) shades[job.index] = [shade(job, null), job.steps.map(step => shade(job, step))];
  };

  const draw = plot => {
    const { ctx, bbox } = plot;
    const ratio = uPlot.pxRatio;
    const [from, to] = timeline.range();
    const scale = bbox.width / (to - from);
    const x = time => bbox.left + (time - from) * scale;
    const tall = bbox.height / rows;
    const gap = tall > 6 * ratio ? Math.max(ratio, tall * 0.22) : tall > 3 * ratio ? ratio : 0;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    if (!shades) paint();
    const [fail, paper] = [colour("fail"), colour("paper")];
    for (const job of jobs) {
      if (job.to < from || job.from > to) continue;
      const top = bbox.top + job.row * tall + gap / 2;
      const high = tall - gap;
      const [left, right] = [x(job.from), Math.max(x(job.to), x(job.from) + ratio)];
      ctx.globalAlpha = 1;
      const [whole, parts] = shades[job.index];
      ctx.fillStyle = whole;
      ctx.fillRect(left, top, right - left, high);
      for (const [at, step] of job.steps.entries()) {
        if (step.start_s === undefined || mode === "class" || mode === "persona") continue;
        const [begin, end] = [x(step.start_s), x(step.start_s + step.real_s)];
        if (end < bbox.left || begin > bbox.left + bbox.width) continue;
        ctx.fillStyle = parts[at];
        ctx.fillRect(begin, top, Math.max(Math.min(end, right) - begin, 0.5), high);
        if (high > 6 * ratio && end - begin > 3 * ratio) {
          ctx.fillStyle = paper;
          ctx.fillRect(begin, top, 0.75 * ratio, high);
        }
      }
      if (!["good", "unchecked"].includes(job.state)) {
        ctx.fillStyle = fail;
        ctx.fillRect(left, top, right - left, Math.max(ratio, high * 0.2));
        ctx.fillRect(right - 3 * ratio, top, 3 * ratio, high);
      }
      if (job === chosen) {
        ctx.strokeStyle = colour("ink");
        ctx.lineWidth = 1.5 * ratio;
        ctx.strokeRect(left, top, right - left, high);
      }
    }
    if (named) names(ctx, bbox, ratio, x, tall);
    ctx.restore();
  };

  /** Names beside the bars, where there is room: right of them, or left. */
  const names = (ctx, bbox, ratio, x, tall) => {
    ctx.font = `${12 * ratio}px ${FONT}`;
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    for (const job of jobs) {
      const [left, right] = [x(job.from), x(job.to)];
      if (right < bbox.left || left > bbox.left + bbox.width) continue;
      const width = ctx.measureText(job.name).width;
      const edge = bbox.left + bbox.width;
      const middle = bbox.top + (job.row + 0.5) * tall + ratio * 0.5;
      const bad = !["good", "unchecked"].includes(job.state);
      let place;
      if (right + 6 * ratio + width < edge) place = Math.max(right, bbox.left) + 6 * ratio;
      else if (left - 6 * ratio - width > bbox.left) place = left - 6 * ratio - width;
      if (place !== undefined) ctx.fillStyle = colour(bad ? "fail" : "soft");
      else {
        place = Math.max(left, bbox.left) + 6 * ratio;
        const high = tall * 0.78;
        ctx.fillStyle = colour("paper");
        ctx.globalAlpha = 0.86;
        ctx.fillRect(place - 4 * ratio, middle - high / 2, width + 8 * ratio, high);
        ctx.globalAlpha = 1;
        ctx.fillStyle = colour(bad ? "fail" : "ink");
      }
      ctx.fillText(job.name, place, middle);
    }
  };

  const rowAt = top => Math.floor(top / chart.plot.over.clientHeight * rows);
  const jobAt = (time, top) => {
    const row = byRow[rowAt(top)];
    if (!row) return null;
    const slack = (timeline.range()[1] - timeline.range()[0]) / 300;
    return row.find(job => job.from <= time && time <= job.to)
      ?? row.find(job => job.from - slack <= time && time <= job.to + slack) ?? (named ? row[0] : null);
  };

  const look = (time, top) => {
    const job = top >= 0 ? jobAt(time, top) : null;
    if (job !== chosen) { chosen = job; chart.plot.redraw(false); }
    chart.box.style.cursor = job ? "pointer" : "";
    if (!job) return [make("h4", {}, clock(time, 1)), ...data.running(time)];
    const kind = [job.class, job.persona].filter(Boolean).join(", ");
    const lines = [
      make("h4", {}, job.name, make("small", {}, OUTCOME[job.state])),
      kind ? make("p", {}, kind) : null,
      make("p", {}, job.end_s === undefined ? `launched ${clock(job.from, 1)}` : `${clock(job.from, 1)} – ${clock(job.to, 1)}, ${duration(job.to - job.from)}`
        + (job.cpu_s === undefined ? "" : `, ${duration(job.cpu_s)} of processor time`)),
      ...job.findings?.map(finding => make("p", { class: "bad" }, finding)) ?? [],
    ];
    const step = job.steps.find(step => step.start_s !== undefined && step.start_s <= time && time <= step.start_s + step.real_s);
    if (step) {
      lines.push(make("h5", {}, step.name, make("small", {}, `step ${step.number} of ${job.steps_in_all}, ${duration(step.real_s)}, ${duration(step.cpu_s)} of processor time`)));
      for (const [channel, read, written] of step.bytes) {
        lines.push(keyed(channel, CHANNEL[channel] ?? channel, `${bytesText(read)} read, ${bytesText(written)} written`));
      }
    }
    return lines.filter(Boolean);
  };

  const chart = timeline.add({
    box: figureElement.querySelector(".plot"), height, values: [[0, data.end_s], [null, null]],
    options: {
      scales: { x: { time: false, range: () => timeline.range() }, y: { range: [0, 1] } },
      axes: [timeline.xAxis(true), { scale: "y", size: GUTTER, stroke: "transparent", grid: { show: false }, ticks: { show: false }, values: () => [] }],
      series: [{}, { scale: "y", points: { show: false } }],
      hooks: { draw: [draw] },
    },
    look,
    painted: () => { shades = null; },
    left: () => { if (chosen) { chosen = null; chart.plot.redraw(false); } },
    step: by => {
      const now = chosen ? jobs.indexOf(chosen) : by > 0 ? -1 : 0;
      const next = jobs[Math.min(Math.max(now + by, 0), jobs.length - 1)];
      if (!next) return;
      const [from, to] = timeline.range();
      const middle = (next.from + next.to) / 2;
      if (middle < from || middle > to) timeline.show(middle - (to - from) / 2, middle + (to - from) / 2);
      chart.row = (next.row + 0.5) / rows * chart.plot.over.clientHeight;
      chart.plot.setCursor({ left: chart.plot.valToPos(middle, "x"), top: chart.row }, false);
    },
    open: () => { if (chosen) jobDetails(chosen.index); },
  });

  const legend = figureElement.querySelector(".legend");
  const explain = () => {
    const used = new Set(jobs.flatMap(job => job.steps.flatMap(step => step.bytes.map(([channel]) => channel))));
    const item = (name, label) => make("span", {}, make("i", { class: "dot", colour: name }), label);
    const items = {
      channel: () => [...Object.keys(CHANNEL).filter(name => used.has(name)).map(name => item(name, CHANNEL[name])), item("idle", "below 1 MB/s, asleep, or no record")],
      cpu: () => [make("span", {}, "processor time of elapsed time:"), ...[1, 2, 3, 4, 5].map(part => item(`heat-${part}`, part === 5 ? "80 % and more" : `${part * 20 - 20} – ${part * 20} %`))],
      class: () => classes.map(name => item(nth(classes, name), name)),
      persona: () => personas.map(name => item(nth(personas, name), name)),
    }[mode]();
    if (jobs.some(job => !["good", "unchecked"].includes(job.state))) items.push(item("fail", "to be looked at"));
    legend.replaceChildren(...items);
  };
  const modes = [["channel", "Channel"], ["cpu", "CPU share"], ...(classes.length ? [["class", "Class"]] : []), ...(personas.length ? [["persona", "Persona"]] : [])];
  switcher(figureElement.querySelector(".switch"), modes, name => { mode = name; shades = null; explain(); chart.plot.redraw(false); });
  explain();
  return chart;
};

/** Buttons of which one is pressed. */
const switcher = (place, choices, choose) => {
  const buttons = choices.map(([name, label], index) => {
    const button = make("button", { type: "button", "aria-pressed": String(index === 0) }, label);
    button.addEventListener("click", () => {
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      choose(name);
    });
    return button;
  });
  place.append(...buttons);
};
