// Draws a time line: panels under one another, all over one axis of time.
const timeLine = (() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const NARROW = 620;
  const PANEL = 92;
  const TITLE = 18;
  const HEAD = 22;
  const FOOT = 40;
  const COLOURS = new Set(["client", "server", "backup", "controller", "line-1", "line-2", "line-3", "line-4", "line-5"]);
  const colour = (name) => `var(--${COLOURS.has(name) ? name : "line-1"})`;
  const style = { background: "none", color: "currentColor", fontSize: "12px", overflow: "visible" };

  function element(name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text != null) made.append(text);
    return made;
  }

  function marked(name, attributes, title) {
    const made = element(name, attributes);
    made.append(element("title", {}, title));
    return made;
  }

  // Each second as a step of its whole length; a break where one does not follow the one before.
  function steps(values, seconds) {
    const points = [];
    let before = null;
    values.forEach((value, at) => {
      if (value == null) return;
      const [begin, end] = seconds[at];
      if (before != null && begin !== before) points.push({ x: begin, y: NaN });
      points.push({ x: begin, y: value }, { x: end, y: value });
      before = end;
    });
    return points;
  }

  // Consecutive seconds of which something is so, as spans.
  function spans(flags, seconds) {
    const found = [];
    flags.forEach((flag, at) => {
      if (!flag) return;
      const [begin, end] = seconds[at];
      if (found.length && found.at(-1).end === begin) found.at(-1).end = end;
      else found.push({ begin, end });
    });
    return found;
  }

  function span(panel) {
    const values = panel.lines.flatMap((line) => line.values).filter((value) => value != null && (!panel.log || value > 0));
    const most = values.length ? Math.max(...values) : 1;
    if (!panel.log) return [0, most > 0 ? most * 1.08 : 1];
    const least = values.length ? Math.min(...values) : 1;
    return [10 ** Math.floor(Math.log10(least)), 10 ** Math.ceil(Math.log10(most * 1.01))];
  }

  function powers([low, high]) {
    const all = [];
    for (let power = Math.round(Math.log10(low)); power <= Math.round(Math.log10(high)); power += 1) all.push(10 ** power);
    const every = Math.ceil(all.length / 4);
    return all.filter((_tick, at) => at % every === 0);
  }

  // The panel's title, and after it the name of each line in the line's colour.
  function title(panel, left, narrow) {
    const text = element("text", { x: narrow ? 2 : left, y: 12, "text-anchor": "start", class: "panel-title" });
    text.append(element("tspan", {}, panel.title));
    for (const line of panel.lines)
      if (line.label)
        text.append(element("tspan", { dx: narrow ? 7 : 14, style: `fill: ${colour(line.colour)}` }, `${line.dashed ? "╌" : "━"} ${line.label}`));
    return text;
  }

  function draw(figure, width) {
    const { seconds, stages, backups, kills } = figure.axis;
    const narrow = width < NARROW;
    const left = narrow ? 46 : 66;
    const right = 8;
    const ends = [...seconds.flat(), ...stages.flatMap((each) => [each.begin, each.end])];
    const domain = [Math.min(...ends), Math.max(...ends)];
    const place = (at) => left + ((at - domain[0]) / (domain[1] - domain[0] || 1)) * (width - left - right);
    const height = HEAD + figure.rows.length * PANEL + FOOT;
    const bottom = HEAD + figure.rows.length * PANEL;
    const drawing = element("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-label": figure.label, class: "time-line" });

    for (const { begin, end } of backups)
      drawing.append(marked("rect", { class: "backup", x: place(begin), y: HEAD - 4, width: Math.max(2, place(end) - place(begin)), height: bottom - HEAD + 4 },
        `backup, ${(end - begin).toFixed(1)} s`));
    stages.forEach(({ name, begin, end }, at) => {
      const from = place(begin);
      const room = place(end) - from;
      drawing.append(element("line", { class: "border", x1: from, x2: from, y1: 4, y2: bottom }));
      const numbered = `${at + 1} ${name}`;
      const text = element("text", { class: "stage", x: from + 4, y: 14 }, numbered.length * 6.6 + 6 <= room ? numbered : room > 16 ? `${at + 1}` : "");
      text.append(element("title", {}, name));
      drawing.append(text);
    });

    figure.rows.forEach((panel, at) => {
      const last = at === figure.rows.length - 1;
      const vertical = span(panel);
      const ticks = panel.log ? powers(vertical) : 3;
      const plot = Plot.plot({
        width,
        height: PANEL + (last ? FOOT : 0),
        marginLeft: left,
        marginRight: right,
        marginTop: TITLE + 4,
        marginBottom: last ? FOOT + 4 : 4,
        style,
        color: { type: "identity" },
        x: { type: "linear", domain, axis: null },
        y: { type: panel.log ? "log" : "linear", domain: vertical, axis: null },
        marks: [
          Plot.axisY({ ticks, label: null, tickSize: 0, tickFormat: (tick) => (tick >= 1e3 ? `${tick / 1e3} k` : `${+tick.toPrecision(3)}`) }),
          Plot.ruleY([vertical[0]], { strokeOpacity: 0.35 }),
          last
            ? Plot.axisX({ ticks: Math.max(3, Math.round(width / 110)), tickSize: 4, label: "seconds since the first stage began", labelAnchor: "left", labelArrow: "none", labelOffset: 36 })
            : null,
          ...panel.lines.map((line) =>
            Plot.line(steps(panel.log ? line.values.map((value) => (value > 0 ? value : null)) : line.values, seconds), {
              x: "x", y: "y", stroke: colour(line.colour), strokeWidth: 1.5, strokeDasharray: line.dashed ? "3 3" : null,
            }),
          ),
          Plot.ruleY(spans(panel.stalled ?? [], seconds), {
            y: () => vertical[0], x1: "begin", x2: "end", stroke: "var(--error)", strokeWidth: 5,
            title: (each) => `stalled ${(each.end - each.begin).toFixed(1)} s`,
          }),
          Plot.dot(spans(panel.failed ?? [], seconds), {
            x: (each) => (each.begin + each.end) / 2, y: () => vertical[1], r: 4, symbol: "times", stroke: "var(--error)", strokeWidth: 2,
            title: () => "failed operations",
          }),
        ],
      });
      // A drawing within a drawing: sizes in style sheets would stage it over the whole.
      plot.style.width = `${width}px`;
      plot.style.height = `${PANEL + (last ? FOOT : 0)}px`;
      plot.style.maxWidth = "none";
      plot.setAttribute("y", HEAD + at * PANEL);
      plot.setAttribute("class", `${plot.getAttribute("class")} panel`);
      plot.append(title(panel, left, narrow));
      drawing.append(plot);
    });

    for (const at of kills)
      drawing.append(marked("line", { class: "kill", x1: place(at), x2: place(at), y1: HEAD - 4, y2: bottom }, `killed at ${at.toFixed(1)} s`));
    return drawing;
  }

  // `item` makes one entry: text, symbol, colour.
  function legend(figure, item) {
    const { stages, backups, kills } = figure.axis;
    const any = (key) => figure.rows.some((panel) => panel[key]?.some(Boolean));
    const names = document.createElement("li");
    names.textContent = stages.map((each, at) => `${at + 1} ${each.name}`).join(" · ");
    return [
      names,
      ...(backups.length ? [item("backup under way", "square", "var(--backup-legend)")] : []),
      ...(kills.length ? [item("engine killed", "wye", "var(--error)")] : []),
      ...(any("stalled") ? [item("stalled: an operation under way for over 1 s", "square", "var(--error)")] : []),
      ...(any("failed") ? [item("failed operations", "times", "var(--error)")] : []),
    ];
  }

  return { draw, legend };
})();
