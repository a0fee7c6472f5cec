// Draws the figures over the tables that are already there, and lets the reader choose among them.
(() => {
  "use strict";
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const SHAPES = { c: "circle", java: "square", python: "triangle", go: "diamond", rust: "star", node: "times" };
  const COLOURS = { embedded: "var(--embedded)", server: "var(--server)", file: "var(--file)" };
  const shape = (language) => SHAPES[language] ?? "wye";
  const colour = (deployment) => COLOURS[deployment] ?? "var(--none)";
  const NARROW = 620;
  const MARGINS = { marginTop: 22, marginBottom: 42 };
  const HALO = { stroke: "var(--paper)", strokeWidth: 4, paintOrder: "stroke" };
  const style = { background: "none", color: "currentColor", fontSize: "12.5px" };

  // Names stand left of the drawing, or above each line where there is no room beside it.
  function names(rows, width, height) {
    const narrow = width < NARROW;
    const longest = Math.max(...rows.map((row) => row.name.length));
    const shared = { y: "name", frameAnchor: "left", textAnchor: "start", fill: "currentColor", text: "name" };
    return {
      marginLeft: narrow ? 2 : Math.min(300, 16 + 7.2 * longest),
      height: rows.length * (narrow ? height + 16 : height) + 68,
      axis: narrow
        ? Plot.text(rows, { ...shared, ...HALO, dy: -13 })
        : Plot.axisY({ label: null, tickSize: 0, tickPadding: 10 }),
    };
  }

  const framed = (figure, width) => ({ width, ...MARGINS, ariaLabel: figure.label, style, color: { type: "identity" } });
  const bands = (rows) => ({ type: "band", domain: rows.map((row) => row.name), axis: null });
  const axis = (label) => ({ label, labelAnchor: "left", labelArrow: "none", labelOffset: 38, tickSize: 0 });
  const some = (width) => ({ ticks: Math.max(3, Math.round(width / 140)) });

  function logTicks(low, high, width) {
    if (high / low < 2.5) return { ticks: Math.max(3, Math.round(width / 130)) };
    const ticks = [];
    const steps = high / low > 200 || width < NARROW ? [1, 3] : [1, 2, 5];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1)
      for (const step of steps) ticks.push(step * 10 ** power);
    return { ticks: ticks.filter((tick) => tick >= low && tick <= high) };
  }

  function ranking(figure, width) {
    const { rows, floor } = figure;
    const layout = names(rows, width, 24);
    const ends = rows.flatMap((row) => [row.ratio, row.low ?? row.ratio, row.high ?? row.ratio]);
    if (floor) ends.push(floor);
    const least = Math.min(...ends);
    const most = Math.max(...ends);
    const span = Math.max(most / least, 1.05);
    const domain = [least / span ** 0.03, most * span ** 0.02];
    const inset = width < NARROW ? 13 : 7;
    const beside = (row) => (row.interval && width >= NARROW ? `${row.text}  ${row.interval}` : row.text);
    const tip = (row) => `${row.name}: ${row.time}, ${row.text} ${row.interval}`;
    return Plot.plot({
      ...framed(figure, width),
      height: layout.height,
      marginLeft: layout.marginLeft,
      marginRight: width < NARROW ? 74 : 150,
      x: { type: "log", domain },
      y: bands(rows),
      marks: [
        Plot.gridX({ ...logTicks(...domain, width), strokeOpacity: 0.12 }),
        Plot.axisX({
          ...logTicks(...domain, width),
          ...axis("cost relative to the fastest, log scale"),
          tickFormat: (tick) => `${+tick.toPrecision(3)}×`,
        }),
        Plot.ruleX([1], { strokeOpacity: 0.5 }),
        floor ? Plot.ruleX([floor], { strokeDasharray: "3 3", strokeOpacity: 0.7 }) : null,
        floor ? Plot.text([floor], { x: (d) => d, text: () => "floor", frameAnchor: "top", dy: -12, fill: "currentColor" }) : null,
        layout.axis,
        Plot.ruleY(rows, {
          y: "name",
          x1: (row) => row.low ?? row.ratio,
          x2: (row) => row.high ?? row.ratio,
          stroke: (row) => colour(row.deployment),
          strokeWidth: 2.5,
        }),
        ...["low", "high"].map((end) =>
          Plot.tickX(
            rows.filter((row) => row[end] != null && row.low !== row.high),
            { y: "name", x: end, stroke: (row) => colour(row.deployment), strokeWidth: 1.5, insetTop: inset, insetBottom: inset },
          ),
        ),
        Plot.dot(rows, {
          y: "name",
          x: "ratio",
          r: 4.5,
          symbol: (row) => shape(row.language),
          fill: (row) => colour(row.deployment),
          title: tip,
        }),
        Plot.text(rows, {
          y: "name",
          x: (row) => row.high ?? row.ratio,
          text: beside,
          textAnchor: "start",
          dx: 10,
          fill: "var(--soft)",
          ...HALO,
        }),
      ],
    });
  }

  function cpu(figure, width) {
    const layout = names(figure.rows, width, 22);
    const largest = Math.max(...figure.rows.map((row) => row.client + row.server));
    const [scale, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([size]) => largest >= size) ?? [1, "ns"];
    const parts = ["client", "server"].flatMap((side) =>
      figure.rows.map((row) => ({ name: row.name, side, value: row[side] / scale })),
    );
    return Plot.plot({
      ...framed(figure, width),
      height: layout.height,
      marginLeft: layout.marginLeft,
      marginRight: 74,
      x: { domain: [0, largest / scale] },
      y: { ...bands(figure.rows), padding: width < NARROW ? 0.55 : 0.3 },
      marks: [
        Plot.gridX({ ...some(width), strokeOpacity: 0.12 }),
        Plot.axisX({ ...some(width), ...axis(`CPU per operation, ${unit}`) }),
        layout.axis,
        Plot.barX(parts, {
          y: "name",
          x: "value",
          fill: (part) => `var(--${part.side})`,
          insetTop: width < NARROW ? 8 : 0,
          insetRight: 0.5,
        }),
        Plot.text(figure.rows, {
          y: "name",
          x: (row) => (row.client + row.server) / scale,
          text: "text",
          textAnchor: "start",
          dx: 6,
          dy: width < NARROW ? 4 : 0,
          fill: "var(--soft)",
          ...HALO,
        }),
      ],
    });
  }

  function order(figure, width) {
    const layout = names(figure.rows, width, 16);
    const blocks = (key) => figure.rows.flatMap((path) => path[key].map((at) => ({ name: path.name, at })));
    const inset = width < NARROW ? 16 : 3;
    return Plot.plot({
      ...framed(figure, width),
      height: layout.height,
      marginLeft: layout.marginLeft,
      y: bands(figure.rows),
      marks: [
        Plot.axisX({ ...some(width), ...axis("seconds since the run began") }),
        layout.axis,
        Plot.tickX(
          blocks("at"),
          { y: "name", x: "at", stroke: "currentColor", strokeOpacity: 0.45, insetTop: inset, insetBottom: 3 },
        ),
        Plot.dot(
          blocks("disturbed"),
          { y: "name", x: "at", r: 4, symbol: "times", stroke: "var(--error)", strokeWidth: 2, title: (row) => `${row.name}: disturbed` },
        ),
      ],
    });
  }

  const pointsOf = (figure) => figure.rows.flatMap((row) => row.points.map((point) => ({ ...row, ...point })));

  // A value of each point over the number of clients, a line per path; `beneath`: marks under the lines.
  function overClients(figure, width, { value, label, span, worded, tickFormat = "~s", beneath = [] }) {
    const points = pointsOf(figure);
    const last = figure.rows.map((row) => ({ name: row.name, ...row.points.at(-1) }));
    const ticks = [...new Set(points.map((point) => point.clients))].sort((a, b) => a - b);
    const longest = Math.max(...last.map((row) => row.name.length));
    return Plot.plot({
      ...framed(figure, width),
      height: width < NARROW ? 340 : 420,
      marginLeft: 62,
      marginRight: width < NARROW ? 12 : Math.min(280, 24 + 7.2 * longest),
      x: { type: "log", base: 2, domain: [ticks[0], ticks.at(-1)] },
      y: { type: "log", domain: span },
      marks: [
        Plot.gridX({ ticks, strokeOpacity: 0.12 }),
        Plot.axisX({ ticks, ...axis("clients at once, log scale"), tickFormat: (tick) => `${tick}` }),
        Plot.axisY({ ...logTicks(...span, width), label, labelArrow: "none", tickSize: 0, tickFormat }),
        ...beneath,
        Plot.line(points, { x: "clients", y: value, z: "name", stroke: "currentColor", strokeOpacity: 0.55, strokeWidth: 1.5 }),
        Plot.dot(points, {
          x: "clients",
          y: value,
          r: 4,
          fill: (point) => colour(point.deployment),
          title: (point) => `${point.name}: ${worded(point)} with ${point.clients} clients`,
        }),
        Plot.text(last, {
          x: "clients",
          y: value,
          text: "name",
          ...(width < NARROW ? { textAnchor: "end", dy: -12 } : { textAnchor: "start", dx: 10 }),
          fill: "currentColor",
          ...HALO,
        }),
      ],
    });
  }

  function clients(figure, width) {
    const rates = pointsOf(figure).map((point) => point.rate);
    const span = [Math.min(...rates) / 1.15, Math.max(...rates) * 1.15];
    const worded = (point) => `${Math.round(point.rate)} operations/s`;
    return overClients(figure, width, { value: "rate", label: "operations/s", span, worded });
  }

  function scaling(figure, width) {
    const points = pointsOf(figure);
    const most = Math.max(...points.map((point) => point.clients));
    const ends = points.flatMap((point) => [point.speed_up, point.low ?? point.speed_up, point.high ?? point.speed_up]);
    const span = [Math.min(...ends) / 1.1, Math.max(...ends, most) * 1.1];
    const ideal = [1, most].map((each) => ({ clients: each, speed_up: each }));
    const beneath = [
      Plot.line(ideal, { x: "clients", y: "speed_up", stroke: "currentColor", strokeOpacity: 0.5, strokeDasharray: "4 4" }),
      Plot.ruleX(points.filter((point) => point.low && point.high), {
        x: "clients", y1: "low", y2: "high", stroke: (point) => colour(point.deployment), strokeWidth: 1.5,
      }),
    ];
    const worded = (point) => `${point.speed_up.toFixed(2)} times as fast as one`;
    const tickFormat = (tick) => `${tick}`;
    const label = "speed-up, dashed: ideal";
    return overClients(figure, width, { value: "speed_up", label, span, worded, tickFormat, beneath });
  }

  function item(text, symbol, fill) {
    const mark = Plot.plot({
      width: 14, height: 14, margin: 0, axis: null, style: { background: "none" }, color: { type: "identity" },
      x: { domain: [-1, 1] }, y: { domain: [-1, 1] },
      marks: [Plot.dot([0], { x: () => 0, y: () => 0, r: 4.5, symbol: () => symbol, [symbol === "times" ? "stroke" : "fill"]: () => fill })],
    });
    mark.setAttribute("aria-hidden", "true");
    const element = document.createElement("li");
    element.append(mark, text);
    return element;
  }

  function legend(figure) {
    const values = (key) => [...new Set(figure.rows.map((row) => row[key]))];
    const deployments = () => values("deployment").map((each) => item(each, "circle", colour(each)));
    const items = {
      ranking: () => [
        ...deployments(),
        ...values("language").map((each) => item(each, shape(each), "currentColor")),
      ],
      cpu: () => ["client", "server"].map((side) => item(side, "square", `var(--${side})`)),
      order: () => (figure.rows.some((row) => row.disturbed.length) ? [item("disturbed block", "times", "var(--error)")] : []),
      clients: deployments,
      scaling: deployments,
      timeline: () => timeLine.legend(figure, item),
    }[figure.kind]();
    const list = document.createElement("ul");
    list.className = "legend";
    list.append(...items);
    if (figure.note) list.append(Object.assign(document.createElement("li"), { textContent: figure.note }));
    return list;
  }

  const draw = { ranking, cpu, order, clients, scaling, timeline: timeLine.draw };
  let drawn = 0;
  function drawAll() {
    const width = Math.min(1130, document.querySelector("main").clientWidth);
    if (!width || width === drawn) return;
    drawn = width;
    for (const place of document.querySelectorAll("figure[data-figure]")) {
      const figure = figures[place.dataset.figure];
      const drawing = draw[figure.kind](figure, width);
      drawing.setAttribute("role", "img");
      place.replaceChildren(legend(figure), drawing);
      place.hidden = false;
    }
  }

  // A group of buttons of which one is pressed; arrow keys move among them.
  function group(label, choices, choose) {
    const row = document.createElement("div");
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", label);
    const title = document.createElement("span");
    title.className = "label";
    title.textContent = label;
    row.append(title);
    const buttons = choices.map(([text, value]) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.addEventListener("click", () => press(button, value));
      row.append(button);
      return button;
    });
    function press(button, value) {
      for (const each of buttons) {
        each.setAttribute("aria-pressed", String(each === button));
        each.tabIndex = each === button ? 0 : -1;
      }
      choose(value);
    }
    row.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const ends = { Home: 0, End: buttons.length - 1 };
      if (!step && !(event.key in ends)) return;
      event.preventDefault();
      const at = buttons.indexOf(document.activeElement);
      const next = buttons[step ? (at + step + buttons.length) % buttons.length : ends[event.key]];
      next.focus();
      next.click();
    });
    press(buttons[0], choices[0][1]);
    return row;
  }

  function chooser() {
    const place = document.getElementById("chooser");
    const operations = [...document.querySelectorAll(".operation")];
    const regimes = [...new Set([...document.querySelectorAll(".regime")].map((each) => each.dataset.regime))];
    if (!place) return;
    const chosen = { operation: "", regime: "" };
    const show = () => {
      for (const each of operations) {
        each.hidden = chosen.operation !== "" && each.id !== chosen.operation;
        const own = [...each.querySelectorAll(".regime")];
        const has = own.some((ranked) => ranked.dataset.regime === chosen.regime);
        for (const ranked of own) ranked.hidden = has && ranked.dataset.regime !== chosen.regime;
      }
    };
    const pick = (key) => (value) => {
      chosen[key] = value;
      show();
    };
    const all = ["all", ""];
    if (operations.length > 1)
      place.append(group("Operation", [...operations.map((each) => [each.dataset.title, each.id]), all], pick("operation")));
    if (regimes.length > 1)
      place.append(group("Regime", [...regimes.map((each) => [each, each]), all], pick("regime")));
    place.hidden = !place.childElementCount;
  }

  drawAll();
  chooser();
  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  });
  document.documentElement.dataset.drawn = "yes";
})();
