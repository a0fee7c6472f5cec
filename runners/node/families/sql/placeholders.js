// The `?` placeholders of SQL, and what drivers have instead of them.

/** The SQL between its `?` placeholders; a `?` inside quotes is no placeholder. */
export function splitPlaceholders(sql) {
  const parts = [""];
  let quote = "";
  for (const sign of sql) {
    if (quote) quote = sign === quote ? "" : quote;
    else if (sign === "'" || sign === '"') quote = sign;
    else if (sign === "?") {
      parts.push("");
      continue;
    }
    parts[parts.length - 1] += sign;
  }
  return parts;
}

/** The SQL with `$1`, `$2`, … for its placeholders. */
export function numbered(sql) {
  const [first, ...rest] = splitPlaceholders(sql);
  return first + rest.map((part, i) => `$${i + 1}${part}`).join("");
}
