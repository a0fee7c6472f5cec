// Lets the reader choose among what is already there, and keeps the choice in the address.
(() => {
  "use strict";
  const known = JSON.parse(document.getElementById("paths").textContent);
  const coordinates = Object.entries(known.values);
  const paths = known.paths.map((numbers) =>
    Object.fromEntries(coordinates.map(([name, values], at) => [name, values[numbers[at]]])),
  );
  const rows = [...document.querySelectorAll(".row[data-path]")];
  const operations = [...document.querySelectorAll(".operation")];
  const MOST = 14; // values of a coordinate that are offered
  const choice = new Map(); // by name: the values chosen; nothing: all
  const groups = [];
  const matrix = matrixBy(paths, choice, () => {
    show();
    write();
  });

  // A part of the address with "=" is a choice; any other names a place in the page.
  function read() {
    const text = decodeURIComponent(location.hash.slice(1));
    if (!text || text.includes("=")) choice.clear();
    if (!text.includes("=")) return text;
    let place = "";
    for (const part of text.split("&")) {
      const [name, values] = part.split("=");
      if (name === "open") place = values;
      else if (values) choice.set(name, values.split(","));
    }
    return place;
  }

  const opened = () => {
    const found = rows.map((row) => row.querySelector("details[id][open]")).filter(Boolean);
    return found.length ? found.at(-1).id : "";
  };

  let printing = false;
  function write() {
    if (printing) return;
    const parts = [...choice].filter(([, values]) => values.length).map(([name, values]) => `${name}=${values.join(",")}`);
    const place = opened();
    if (place) parts.push(`open=${place}`);
    history.replaceState(null, "", parts.length ? `#${parts.map(encodeURI).join("&")}` : location.pathname + location.search);
  }

  function show() {
    const others = ["operation", "regime", ...matrix.parts];
    const wanted = [...choice].filter(([name, values]) => values.length && !others.includes(name));
    const isShown = (path) => wanted.every(([name, values]) => values.includes(paths[path]?.[name] ?? "none"));
    let hidden = 0;
    const seen = new Set();
    for (const row of rows) {
      row.hidden = !isShown(row.dataset.path);
      if (!seen.has(row.dataset.path)) hidden += row.hidden;
      seen.add(row.dataset.path);
    }
    for (const each of operations) {
      const chosen = choice.get("operation") ?? [];
      each.hidden = chosen.length > 0 && !chosen.includes(each.id);
      const regimes = choice.get("regime") ?? [];
      const own = [...each.querySelectorAll(".regime")];
      const has = own.some((ranked) => regimes.includes(ranked.dataset.regime));
      for (const ranked of own) ranked.hidden = has && !regimes.includes(ranked.dataset.regime);
    }
    matrix.draw(isShown);
    for (const { name, buttons } of groups)
      for (const [value, button] of buttons)
        button.setAttribute("aria-pressed", String((choice.get(name) ?? []).includes(value)));
    const status = document.getElementById("chosen");
    if (status) status.textContent = hidden ? `${hidden} of ${seen.size} paths are hidden` : "";
  }

  // Buttons of one name, of which any number is pressed; none: everything is shown. Arrow keys move among them.
  function group(name, values) {
    const row = document.createElement("div");
    row.setAttribute("role", "group");
    const title = document.createElement("span");
    title.className = "label";
    title.id = `choose-${name}`;
    title.textContent = name.replaceAll("_", " ");
    row.setAttribute("aria-labelledby", title.id);
    row.append(title);
    const buttons = new Map();
    for (const [text, value] of values) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.tabIndex = buttons.size ? -1 : 0;
      button.addEventListener("click", () => {
        const chosen = choice.get(name) ?? [];
        choice.set(name, chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value]);
        show();
        write();
      });
      buttons.set(value, button);
      row.append(button);
    }
    row.addEventListener("keydown", (event) => {
      const every = [...buttons.values()];
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const ends = { Home: 0, End: every.length - 1 };
      if (!step && !(event.key in ends)) return;
      event.preventDefault();
      const at = every.indexOf(document.activeElement);
      const next = every[step ? (at + step + every.length) % every.length : ends[event.key]];
      for (const each of every) each.tabIndex = each === next ? 0 : -1;
      next.focus();
    });
    groups.push({ name, buttons });
    return row;
  }

  function chooser() {
    const place = document.getElementById("chooser");
    const shown = new Set(rows.map((row) => row.dataset.path));
    const varying = new Map();
    for (const number of shown)
      for (const [name, value] of Object.entries(paths[number])) {
        if (!varying.has(name)) varying.set(name, new Set());
        varying.get(name).add(value);
      }
    const made = [];
    if (operations.length > 1)
      made.push(group("operation", operations.map((each) => [each.dataset.title, each.id])));
    const regimes = [...new Set([...document.querySelectorAll(".regime")].map((each) => each.dataset.regime))];
    if (regimes.length > 1) made.push(group("regime", regimes.map((each) => [each, each])));
    for (const [name, values] of varying)
      if (values.size > 1 && values.size <= MOST && name !== "label")
        made.push(group(name, [...values].sort((a, b) => a.localeCompare(b, "en", { numeric: true })).map((each) => [each, each])));
    if (!made.length) return;
    const fold = document.createElement("details");
    const title = document.createElement("summary");
    title.textContent = "Choose operations and paths ";
    const status = document.createElement("span");
    status.id = "chosen";
    status.className = "count";
    status.setAttribute("role", "status");
    title.append(status);
    fold.append(title, ...made);
    fold.open = [...choice.keys()].some((name) => !matrix.parts.includes(name));
    place.append(fold);
    place.hidden = false;
  }

  function go(place) {
    const target = place && document.getElementById(place);
    if (!target) return;
    for (let each = target; each; each = each.parentElement) if (each.localName === "details") each.open = true;
    const inside = target.matches(".finding") && target.querySelector("details");
    if (inside) inside.open = true;
    target.scrollIntoView({ block: "nearest" });
  }

  const first = read();
  chooser();
  show();
  go(first || (matrix.parts.some((name) => choice.has(name)) ? "choose" : ""));
  for (const row of rows) row.querySelector("details[id]")?.addEventListener("toggle", write);
  window.addEventListener("hashchange", () => {
    const place = read();
    show();
    go(place);
  });
  let folded = [];
  window.addEventListener("beforeprint", () => {
    printing = true;
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const each of folded) each.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const each of folded) each.open = false;
    printing = false;
  });
  document.documentElement.dataset.drawn = "yes";
})();
