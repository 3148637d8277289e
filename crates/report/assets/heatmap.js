// Latency over time: how many operations were in which class.

const heatmap = figureElement => {
  const { class_us: classes, end_s: ends, start_s: start, channels } = data.latency;
  const names = [...Object.keys(CHANNEL).filter(name => channels[name]), ...Object.keys(channels).filter(name => !CHANNEL[name])];
  const sum = chosen => ends.map((_, column) => {
    const counts = new Float64Array(classes.length);
    for (const name of chosen) {
      const pairs = channels[name][column];
      for (let at = 0; at < pairs.length; at += 2) counts[pairs[at]] += pairs[at + 1];
    }
    return counts;
  });
  let columns = sum(names);

  /** What is seen, drawn together so that a column is at least two pixels wide. */
  const cells = (plot, ratio) => {
    const [from, to] = timeline.range();
    const first = Math.max(0, ends.findIndex(end => end > from));
    let last = ends.findIndex(end => end >= to);
    if (last < 0) last = ends.length - 1;
    const each = Math.max(1, Math.ceil((last - first + 1) / (plot.bbox.width / (2 * ratio))));
    const out = [];
    // Groups begin at multiples of their size, so that they do not change while the view moves.
    for (let begin = first - first % each; begin <= last; begin += each) {
      const end = Math.min(begin + each, ends.length);
      const counts = new Float64Array(classes.length);
      for (let column = begin; column < end; column += 1) for (let row = 0; row < classes.length; row += 1) counts[row] += columns[column][row];
      out.push({ from: begin ? ends[begin - 1] : start, to: ends[end - 1], counts });
    }
    return out;
  };

  const draw = plot => {
    const { ctx, bbox } = plot;
    const ratio = uPlot.pxRatio;
    const shown = cells(plot, ratio);
    let most = 1;
    for (const cell of shown) for (const count of cell.counts) if (count > most) most = count;
    const steps = [1, 2, 3, 4, 5].map(step => colour(`heat-${step}`));
    const tall = bbox.height / classes.length;
    const x = time => Math.round(plot.valToPos(time, "x", true));
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    const line = [];
    for (const cell of shown) {
      const [left, right] = [x(cell.from), x(cell.to)];
      let all = 0;
      for (const count of cell.counts) all += count;
      let below = 0;
      let place = null;
      for (let row = 0; row < classes.length; row += 1) {
        const count = cell.counts[row];
        below += count;
        if (place === null && all > 0 && below >= all * 0.99) place = row;
        if (!count) continue;
        const share = Math.log1p(count) / Math.log1p(most);
        ctx.fillStyle = steps[Math.min(4, Math.floor(share * 5))];
        const top = Math.round(bbox.top + (classes.length - row - 1) * tall);
        const bottom = Math.round(bbox.top + (classes.length - row) * tall);
        const wide = Math.max(1, right - left);
        ctx.fillRect(left, top, wide > 6 * ratio ? wide - ratio : wide, bottom - top - (tall > 6 * ratio ? ratio : 0));
      }
      line.push([left, right, place]);
    }
    ctx.strokeStyle = colour("percentile");
    ctx.lineWidth = 2 * ratio;
    ctx.lineJoin = "round";
    ctx.beginPath();
    let on = false;
    for (const [left, right, row] of line) {
      if (row === null) { on = false; continue; }
      const y = bbox.top + (classes.length - row - 1) * tall;
      if (on) ctx.lineTo(left, y); else ctx.moveTo(left, y);
      ctx.lineTo(right, y);
      on = true;
    }
    ctx.stroke();
    ctx.restore();
  };

  const look = (time, top) => {
    let column = ends.findIndex(end => end >= time);
    if (column < 0) column = ends.length - 1;
    const counts = columns[column];
    const all = counts.reduce((sum, count) => sum + count, 0);
    const begin = column ? ends[column - 1] : start;
    const head = make("h4", {}, `${clock(begin, 1)} – ${clock(ends[column], 1)}`, make("small", {}, `${whole(all)} operations`));
    if (top < 0 || !all) return [head];
    const row = classes.length - 1 - Math.min(classes.length - 1, Math.floor(top / chart.plot.over.clientHeight * classes.length));
    let below = 0;
    for (let at = 0; at <= row; at += 1) below += counts[at];
    const low = latencyText(classes[row] / 2);
    return [head,
      keyed("heat-4", `${low} – ${latencyText(classes[row])}`, `${whole(counts[row])} (${figure(counts[row] / all * 100)} %)`),
      keyed("heat-2", `up to ${latencyText(classes[row])}`, `${whole(below)} (${figure(below / all * 100)} %)`)];
  };

  const every = Math.ceil(classes.length / 12);
  const chart = timeline.add({
    box: figureElement.querySelector(".plot"), height: Math.max(170, classes.length * 15 + 32), values: [[0, data.end_s], [null, null]],
    options: {
      scales: { x: { time: false, range: () => timeline.range() }, y: { range: [0, classes.length] } },
      axes: [timeline.xAxis(true), {
        scale: "y", size: GUTTER, gap: 6, stroke: () => colour("quiet"), font: `12px ${FONT}`, grid: { show: false }, ticks: { show: false },
        splits: () => classes.map((_, row) => row + 1).filter(row => row % every === 0),
        values: (_, splits) => splits.map(split => roundLatency(classes[split - 1])),
      }],
      series: [{}, { scale: "y", points: { show: false } }],
      hooks: { draw: [draw] },
    },
    look,
  });
  figureElement.querySelector(".legend").append(make("span", {}, "few", make("b", { class: "ramp" }, ...[1, 2, 3, 4, 5].map(step => make("i", { class: "dot", colour: `heat-${step}` }))), "many operations"),
    make("span", {}, make("i", { class: "dot line", colour: "percentile" }), "99th percentile (upper end of its class)"));
  if (names.length > 1) {
    const choices = [["", "All"], ...names.map(name => [name, CHANNEL[name] ?? name])];
    switcher(figureElement.querySelector(".switch"), choices, name => { columns = sum(name ? [name] : names); chart.plot.redraw(false); });
  }
  return chart;
};
