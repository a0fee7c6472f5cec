"use strict";
// Finds pages by words; every word must occur. Without this script all links are on the page.
(() => {
  const MOST = 20;
  const form = document.getElementById("search");
  const box = document.getElementById("words");
  const list = document.getElementById("found");
  const count = document.getElementById("count");
  const entries = JSON.parse(document.getElementById("entries").textContent)
    .map(each => ({...each, all: `${each.k} ${each.t} ${each.w}`.toLowerCase(), title: each.t.toLowerCase()}));

  function find() {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length ? entries.filter(each => words.every(word => each.all.includes(word))) : [];
    // What has the words in its title comes first; otherwise the order of the data stays.
    const titled = each => words.every(word => each.title.includes(word)) ? 0 : 1;
    found.sort((one, other) => titled(one) - titled(other));
    list.replaceChildren(...found.slice(0, MOST).map(each => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = each.u;
      link.textContent = each.t;
      const kind = document.createElement("small");
      kind.textContent = ` ${each.k}`;
      item.append(link, kind);
      return item;
    }));
    count.textContent = words.length ? `${found.length} found${found.length > MOST ? `, the first ${MOST} shown` : ""}` : "";
  }

  form.hidden = false;
  form.addEventListener("submit", event => {
    event.preventDefault();
    const first = list.querySelector("a");
    if (first) first.click();
  });
  box.addEventListener("input", find);
  document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== box) {
      event.preventDefault();
      box.focus();
    }
  });
})();
