// Draws the figures over the tables that are already there.
(() => {
  "use strict";
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const COLOURS = { embedded: "var(--embedded)", server: "var(--server)", file: "var(--file)" };
  const colour = (deployment) => COLOURS[deployment] ?? "var(--none)";
  const NARROW = 620;
  const MARGINS = { marginTop: 22, marginBottom: 42 };
  const HALO = { stroke: "var(--paper)", strokeWidth: 4, paintOrder: "stroke" };
  const style = { background: "none", color: "currentColor", fontSize: "12.5px" };

  const framed = (figure, width) => ({ width, ...MARGINS, ariaLabel: figure.label, style, color: { type: "identity" } });
  const axis = (label) => ({ label, labelAnchor: "left", labelArrow: "none", labelOffset: 38, tickSize: 0 });
  function logTicks(low, high, width) {
    if (high / low < 2.5) return { ticks: Math.max(3, Math.round(width / 130)) };
    const ticks = [];
    const steps = high / low > 200 || width < NARROW ? [1, 3] : [1, 2, 5];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1)
      for (const step of steps) ticks.push(step * 10 ** power);
    return { ticks: ticks.filter((tick) => tick >= low && tick <= high) };
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

  const draw = { clients, scaling, timeline: timeLine.draw };
  let drawn = 0;
  function drawAll() {
    const width = Math.min(1130, document.querySelector("main").clientWidth);
    if (!width || width === drawn) return;
    drawn = width;
    for (const place of document.querySelectorAll("figure[data-figure]")) {
      const figure = figures[place.dataset.figure];
      const drawing = draw[figure.kind](figure, width);
      drawing.setAttribute("role", "img");
      // The whole drawing has a name; one of a group inside it is not allowed and means nothing to a reader.
      for (const part of drawing.querySelectorAll("g[aria-label]")) {
        part.dataset.mark = part.ariaLabel;
        part.removeAttribute("aria-label");
      }
      place.replaceChildren(legend(figure), drawing);
      place.hidden = false;
    }
  }

  drawAll();
  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  });
})();
