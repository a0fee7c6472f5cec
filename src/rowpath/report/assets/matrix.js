// Makes the matrix of the chapter Choose again from the figures on the page: `draw` by what is chosen, `parts` of it.
const matrixBy = (paths, choice, changed) => {
  "use strict";
  const place = document.getElementById("matrix");
  if (!place) return { parts: [], draw() {} };
  const known = JSON.parse(document.getElementById("cells").textContent);
  const names = new Map(Object.entries(known.names));
  for (const row of document.querySelectorAll(".row[data-path]"))
    names.set(row.dataset.path, row.querySelector(".line > :nth-child(2)").firstChild.textContent);
  const selects = [...document.querySelectorAll("#axes select")];
  const usual = new Map(selects.map((each) => [each.name, each.value]));
  const worded = (name) => selects.flatMap((each) => [...each.options]).find((each) => each.value === name).textContent;
  const isWork = (axis) => known.work.includes(axis);
  const form = (fetch) => {
    const first = fetch.split(":")[0];
    return first === "get-data" || first === "none" ? "row" : first;
  };

  const chosen = (name) => {
    const wanted = (choice.get(name) ?? [])[0];
    const select = selects.find((each) => each.name === name);
    return [...select.options].some((each) => each.value === wanted) ? wanted : usual.get(name);
  };

  const at = ({ row: [number], is }, axis) => {
    if (!axis) return "";
    if (axis === "path") return names.get(String(number));
    return (isWork(axis) ? is[axis] : paths[number]?.[axis]) ?? "none";
  };

  const keyOf = (values) => JSON.stringify(values);
  const pooled = (sources) => sources.flatMap((source) => source.rows.map((row) => ({ row, is: source.is })));
  const usable = ({ row }) => typeof row[1] === "string";
  const every = pooled(known.sources);

  // Figures that may stand in one matrix: of the same work and conditions as the first, but for the axes.
  function pool(base, axes) {
    const alike = (source) =>
      Object.keys({ ...base.is, ...source.is }).every((axis) => axes.includes(axis) || base.is[axis] === source.is[axis]);
    return pooled([base, ...known.sources.filter((source) => source !== base && alike(source))]);
  }

  function valuesOf(axis, held) {
    const seen = [...new Set(held.map((entry) => at(entry, axis)))];
    const order = known.order[axis];
    return order ? seen.sort((a, b) => order.indexOf(a) - order.indexOf(b)) : seen;
  }

  // Why there is no path with these values: by their key, for every combination that a path has or would have.
  function absences(base, axes, isShown) {
    const own = axes.filter((axis) => axis && !isWork(axis));
    const found = new Map();
    const apart = known.apart.filter((axis) => !axes.includes(axis) && axis in base.is);
    const places = own.map((axis) => known.differing.indexOf(axis));
    for (const values of places.includes(-1) ? [] : [...known.dropped].reverse()) {
      const alike = apart.every((axis) => {
        const value = values[known.differing.indexOf(axis)] ?? "none";
        return ["none", "", base.is[axis]].includes(axis === "fetch" ? form(value) : value);
      });
      if (alike) found.set(keyOf(places.map((place) => values[place])), values.at(-1));
    }
    const seen = new Map();
    for (const entry of every) {
      const key = keyOf(own.map((axis) => at(entry, axis)));
      seen.set(key, seen.get(key) || isShown(entry.row[0]));
    }
    for (const [key, shown] of seen) found.set(key, shown ? known.words.elsewhere : known.words.hidden);
    return (wanted) => found.get(keyOf(wanted.filter((_, place) => own.includes(axes[place])))) ?? known.words.absent;
  }

  function together(held) {
    const reasons = [...new Set(held.map(({ row }) => known.reasons[row[1]]))];
    return reasons.slice(0, 2).join("; ") + (reasons.length > 2 ? `; ${reasons.length - 2} more` : "");
  }

  const element = (name, text = "", more = {}) => Object.assign(document.createElement(name), { textContent: text }, more);

  function full(held, figure) {
    const [first] = held;
    const [text, half, ratio] = figure;
    const cell = element("td", "", { title: names.get(String(first.row[0])) });
    cell.append(first.row[1] ? element("a", text, { href: `#${first.row[1]}` }) : text);
    for (const each of [half, held.length > 1 ? `of ${held.length}` : ""])
      if (each) cell.append(" ", element("small", each));
    if (ratio) cell.append(element("small", ratio, { className: "ratio" }));
    return cell;
  }

  function draw(isShown) {
    const [rows, columns, metric] = ["rows", "columns", "metric"].map(chosen);
    for (const select of selects) select.value = chosen(select.name);
    const axes = [rows, columns];
    const base = known.sources[Number(chosen("table")) - 1];
    const held = pool(base, axes).filter(({ row }) => isShown(row[0]));
    const heads = valuesOf(columns, held);
    const cells = new Map();
    for (const entry of held) {
      const key = keyOf(axes.map((axis) => at(entry, axis)));
      if (cells.has(key)) cells.get(key).push(entry);
      else cells.set(key, [entry]);
    }
    const why = absences(base, axes, isShown);
    const numbered = [];
    const hidden = new Set();
    let several = false;
    let absent = false;
    const empty = (reason) => {
      if (reason !== known.words.absent && !numbered.includes(reason)) numbered.push(reason);
      absent ||= reason === known.words.absent;
      return element("td", reason === known.words.absent ? "·" : `– [${numbered.indexOf(reason) + 1}]`, { title: reason });
    };
    const body = element("tbody");
    for (const value of valuesOf(rows, held)) {
      const line = element("tr");
      line.append(element("th", value, { scope: "row" }));
      for (const head of heads) {
        const inside = cells.get(keyOf([value, head])) ?? [];
        const good = inside.filter(usable);
        const figure = good[0]?.row[2 + Math.max(0, metrics.indexOf(metric))];
        if (good.length > 1) {
          several = true;
          for (const axis of Object.keys(paths[good[0].row[0]] ?? {}))
            if (!axes.includes(axis) && new Set(good.map((entry) => at(entry, axis))).size > 1) hidden.add(axis);
        }
        if (figure?.length) line.append(full(good, figure));
        else if (good.length) line.append(empty(known.words.unmeasured));
        else line.append(empty(inside.length ? together(inside) : why([value, head])));
      }
      body.append(line);
    }
    const top = element("tr");
    top.append(element("th", worded(rows), { scope: "col" }));
    for (const head of heads) top.append(element("th", head || worded(metric), { scope: "col", className: "number" }));
    const table = element("table", "", { className: "matrix" });
    const header = element("thead");
    header.append(top);
    const by = [rows, columns].filter(Boolean).map(worded).join(" and ");
    table.append(element("caption", `${worded(metric)} by ${by}`), header, body);
    place.replaceChildren(table);
    document.getElementById("matrix-note").textContent = note(several, hidden, base, axes, held);
    const reasons = numbered.map((reason, number) => `[${number + 1}] ${reason}`);
    if (absent) reasons.push(`· ${known.words.absent}`);
    document.getElementById("matrix-reasons").replaceChildren(...reasons.map((reason) => element("li", reason)));
    document.getElementById("of").textContent = worded(chosen("table"));
  }

  const plain = (axis) => axis.replaceAll("_", " ");
  const listed = (words) => [words.slice(0, -1).join(", "), words.at(-1)].filter(Boolean).join(" and ");

  function note(several, hidden, base, axes, held) {
    const sentences = [];
    const vary = Object.keys(paths[0] ?? {}).filter((axis) => hidden.has(axis));
    const within = vary.length ? `; within them vary ${listed(vary.map(plain))}` : "";
    if (several) sentences.push(`Cells with several paths (of n) show the fastest${within}.`);
    const beside = known.apart.filter((axis) => axes.includes(axis) && new Set(held.map(({ is }) => is[axis])).size > 1);
    if (beside.length) sentences.push(`Side by side here, but ranked apart: ${listed(beside.map(plain))}.`);
    return sentences.join(" ");
  }

  const metrics = [...selects.find((each) => each.name === "metric").options].map((each) => each.value);
  const other = { rows: "columns", columns: "rows" };
  for (const select of selects)
    select.addEventListener("change", () => {
      const set = (name, value) => (value === usual.get(name) ? choice.delete(name) : choice.set(name, [value]));
      // What was there changes places with what comes.
      if (other[select.name] && select.value && chosen(other[select.name]) === select.value)
        set(other[select.name], chosen(select.name));
      set(select.name, select.value);
      changed();
    });
  document.getElementById("axes").hidden = false;
  return { parts: [...usual.keys()], draw };
};
