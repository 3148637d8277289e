// The table of jobs: its order, its filters, and a job's steps.

/** Rows of the table that go to paper. */
const PAPER_ROWS = 100;

/** Opens what is known of a job. */
const jobDetails = index => {
  const job = data.jobs[index];
  const dialog = document.getElementById("job");
  const close = make("button", { type: "button", "aria-label": "Close" }, "Close");
  close.addEventListener("click", () => dialog.close());
  const kind = [job.class, job.persona, OUTCOME[job.state]].filter(Boolean).join(" · ");
  const when = job.start_s === undefined ? "not launched"
    : job.end_s === undefined ? `launched at ${clock(job.start_s, 1)}`
      : `${clock(job.start_s, 1)} to ${clock(job.end_s, 1)}, ${duration(job.end_s - job.start_s)}`;
  const late = job.late_s > 0.5 ? `, ${duration(job.late_s)} late` : "";
  const names = [...new Set(job.steps.flatMap(step => step.bytes.map(([name]) => name)))];
  const channels = Object.keys(CHANNEL).filter(name => names.includes(name));
  const number = (value, text = figure(value)) => make("td", { class: "n" }, text);
  const row = step => {
    const moved = Object.fromEntries(step.bytes.map(([name, read, written]) => [name, [read, written]]));
    return make("tr", {}, number(0, step.number), make("th", { scope: "row" }, step.name),
      number(step.start_s, step.start_s === undefined ? "–" : clock(step.start_s, 1)), number(step.real_s), number(step.cpu_s),
      number(0, step.real_s > 0 ? (step.cpu_s / step.real_s).toFixed(2) : "–"), number(0, step.memory_bytes === undefined ? "–" : bytesText(step.memory_bytes)),
      number(0, step.read_rows === undefined ? "–" : whole(step.read_rows)),
      number(0, step.written_rows === undefined ? "–" : whole(step.written_rows)),
      ...channels.flatMap(name => (moved[name] ?? [0, 0]).map(bytes => number(0, bytes ? bytesText(bytes) : "–"))),
      make("td", {}, step.sleep_s ? `slept ${duration(step.sleep_s)} ` : "", step.errors ? `${step.errors} errors` : step.warnings ? `${step.warnings} warnings` : ""));
  };
  const heading = text => make("th", { scope: "col", class: "n" }, text);
  const table = make("table", {}, make("thead", {}, make("tr", {}, heading("#"), make("th", { scope: "col" }, "Step"),
    ...["Start", "Real s", "CPU s", "CPU/real", "Memory", "Rows in", "Rows out"].map(heading),
    ...channels.flatMap(name => [heading(`${CHANNEL[name]} read`), heading("written")]), make("th", { scope: "col" }, "Log"))),
  make("tbody", {}, ...job.steps.map(row)));
  dialog.replaceChildren(make("header", {}, make("div", {}, make("h2", { id: "job-title" }, job.name), make("p", {}, `${kind} · ${when}${late}`)), close),
    ...job.findings?.map(finding => make("p", { class: "finding" }, finding)) ?? [],
    job.steps.length ? make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Steps" }, table)
      : make("p", { class: "absent" }, "No step of this job left a record."));
  dialog.showModal();
};

const jobTable = table => {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const form = document.querySelector(".filters");
  const cut = () => {
    let shown = 0;
    for (const row of body.rows) if (!row.hidden) row.classList.toggle("beyond", (shown += 1) > PAPER_ROWS);
    document.querySelector(".cut").hidden = shown <= PAPER_ROWS;
  };
  const sort = (heading, column) => {
    const up = heading.getAttribute("aria-sort") !== "ascending";
    const first = !heading.hasAttribute("aria-sort");
    const numeric = heading.dataset.sort === "number";
    // Numbers begin with the largest, names with the first.
    const ascending = first ? !numeric : up;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const key = new Map(rows.map(row => [row, numeric ? row.cells[column].dataset.v : row.cells[column].textContent.trim()]));
    const sign = ascending ? 1 : -1;
    // What was not measured stays at the end.
    rows.sort((a, b) => {
      const [x, y] = [key.get(a), key.get(b)];
      if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
      return sign * (numeric ? x - y : x.localeCompare(y, "en", { numeric: true })) || a.dataset.index - b.dataset.index;
    });
    body.replaceChildren(...rows);
    cut();
  };
  for (const [column, heading] of [...table.tHead.rows[0].cells].entries()) {
    const button = make("button", { type: "button" }, ...heading.childNodes);
    button.addEventListener("click", () => sort(heading, column));
    heading.append(button);
  }
  for (const row of rows) {
    const name = row.cells[0];
    const button = make("button", { type: "button" }, name.textContent);
    button.addEventListener("click", () => jobDetails(Number(row.dataset.index)));
    name.replaceChildren(button);
  }
  const filter = () => {
    const wanted = Object.fromEntries(new FormData(form));
    const text = (wanted.text ?? "").toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !(row.cells[0].textContent.toLowerCase().includes(text)
        && (!wanted.class || row.dataset.class === wanted.class)
        && (!wanted.persona || row.dataset.persona === wanted.persona)
        && (!wanted.bad || "bad" in row.dataset));
      shown += !row.hidden;
    }
    document.getElementById("shown").textContent = shown === rows.length ? `${whole(shown)} jobs` : `${whole(shown)} of ${whole(rows.length)} jobs`;
    cut();
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", event => event.preventDefault());
  cut();
};
