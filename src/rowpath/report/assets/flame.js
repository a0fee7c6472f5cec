"use strict";
// Zoom and search in flame graphs. Without it the page shows the whole graphs, their titles and the table.
(() => {
  const LEAST_TEXT = 2; // per cent of the width
  const SVG = "http://www.w3.org/2000/svg";
  const by = id => document.getElementById(id);
  const label = each => each.element.querySelector("title").textContent;
  const graphs = [...document.querySelectorAll("svg.flame")].map(read);

  function read(root) {
    const above = [];
    const frames = [...root.children].map(element => {
      const at = name => parseFloat(element.getAttribute(name));
      const depth = Math.round(at("y") / at("height"));
      const frame = { element, depth, x: at("x"), width: at("width"), parent: above[depth - 1] || null, children: [] };
      if (frame.parent) frame.parent.children.push(frame);
      above.length = depth;
      above.push(frame);
      element.setAttribute("role", "button");
      element.setAttribute("tabindex", "-1");
      element.setAttribute("aria-label", element.querySelector("title").textContent);
      return frame;
    });
    const graph = { root, frames, tops: frames.filter(each => !each.parent), zoomed: null };
    if (frames.length) frames[0].element.setAttribute("tabindex", "0");
    return graph;
  }

  function zoom(graph, to) {
    graph.zoomed = to;
    const line = new Set();
    for (let each = to; each; each = each.parent) line.add(each);
    const begin = to ? to.x : 0;
    const span = to ? to.width : 100;
    for (const each of graph.frames) {
      const whole = line.has(each);
      const x = whole ? 0 : ((each.x - begin) * 100) / span;
      const width = whole ? 100 : (each.width * 100) / span;
      // Ends are rounded to hundredths: a neighbour may reach in by one.
      const inside = whole || (each.x >= begin - 0.006 && each.x + each.width <= begin + span + 0.006 && (!to || below(each, to)));
      each.element.toggleAttribute("hidden", !inside);
      each.element.toggleAttribute("data-above", whole && each !== to);
      if (!inside) continue;
      each.element.setAttribute("x", `${x}%`);
      each.element.setAttribute("width", `${width}%`);
      if (width >= LEAST_TEXT && !each.element.querySelector("text")) {
        const text = document.createElementNS(SVG, "text");
        text.setAttribute("x", "3");
        text.setAttribute("y", "13");
        text.textContent = label(each).split(" · ")[0];
        each.element.append(text);
      }
    }
  }

  function below(frame, top) {
    for (let each = frame; each; each = each.parent) if (each === top) return true;
    return false;
  }

  function focus(graph, frame) {
    if (!frame) return;
    for (const each of graph.frames) each.element.setAttribute("tabindex", each === frame ? "0" : "-1");
    frame.element.focus();
    show(frame);
  }

  function show(frame) {
    if (frame) by("now").textContent = label(frame);
  }

  function beside(graph, frame, step) {
    const row = frame.parent ? frame.parent.children : graph.tops;
    const next = row[row.indexOf(frame) + step];
    return next && !next.element.hasAttribute("hidden") ? next : null;
  }

  function search() {
    const words = by("search").value.trim().toLowerCase();
    const found = graphs.map(graph => {
      let share = 0;
      let count = 0;
      const inside = new Set();
      for (const each of graph.frames) {
        const hit = words !== "" && label(each).toLowerCase().includes(words);
        each.element.toggleAttribute("data-hit", hit);
        if (hit) count += 1;
        if (hit && !inside.has(each.parent)) share += each.width;
        if (hit || inside.has(each.parent)) inside.add(each);
      }
      const side = graph.root.parentElement.className;
      return `${side}: ${count} frames, ${share.toFixed(1)} %`;
    });
    by("matched").textContent = words ? found.join("; ") : "";
  }

  function whole() {
    for (const graph of graphs) zoom(graph, null);
  }

  for (const graph of graphs) {
    const frameOf = event => graph.frames.find(each => each.element === event.target.closest("svg.flame > svg"));
    graph.root.addEventListener("click", event => {
      const frame = frameOf(event);
      if (frame) zoom(graph, frame), focus(graph, frame);
    });
    graph.root.addEventListener("mouseover", event => show(frameOf(event)));
    graph.root.addEventListener("focusin", event => show(frameOf(event)));
    graph.root.addEventListener("keydown", event => {
      const frame = frameOf(event);
      if (!frame) return;
      const ways = {
        ArrowDown: () => focus(graph, frame.children.find(each => !each.element.hasAttribute("hidden"))),
        ArrowUp: () => focus(graph, frame.parent),
        ArrowRight: () => focus(graph, beside(graph, frame, 1)),
        ArrowLeft: () => focus(graph, beside(graph, frame, -1)),
        Enter: () => zoom(graph, frame),
        " ": () => zoom(graph, frame),
      };
      if (!ways[event.key]) return;
      event.preventDefault();
      ways[event.key]();
    });
  }
  document.addEventListener("keydown", event => {
    if (event.key === "Escape") whole();
    if (event.key === "/" && document.activeElement !== by("search")) {
      event.preventDefault();
      by("search").focus();
    }
  });
  by("search").addEventListener("input", search);
  by("tools").addEventListener("submit", event => event.preventDefault());
  by("reset").addEventListener("click", whole);
  by("tools").hidden = false;
  by("keys").hidden = false;
})();
