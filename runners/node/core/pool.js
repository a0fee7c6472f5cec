// A pool that all clients of a path share: how it is opened, and what an operation does with it.

import { clock } from "./clock.js";
import { Unsupported } from "./failure.js";

/** The pool that a path names, not connected yet; null where it names none. Unsupported where the driver lacks it. */
export async function poolOf(adapter) {
  const { pool: name = "none", pool_size: size = 1, validation = "none", profile } = adapter.options;
  if (name === "none") return null;
  if (!adapter.constructor.pools.includes(name)) throw new Unsupported(`this driver has no pool '${name}'`);
  if (validation !== "none") throw new Unsupported(`the pool ${name} has no validation '${validation}'`);
  const { default: Pool } = await import(`../pools/${name.replaceAll("-", "_")}.js`);
  const pool = new Pool(adapter.poolSettings, Math.max(Number(size), 1), profile === "shipped");
  return Object.assign(pool, { lent: 0 });
}

/** Opens so many connections: how long that took. */
export async function fill(pool, size) {
  const started = clock();
  const lent = [await pool.borrow()];
  const others = await Promise.allSettled(Array.from({ length: size - 1 }, () => pool.borrow()));
  const tookNs = clock() - started;
  for (const each of others) if (each.status === "fulfilled") lent.push(each.value);
  for (const each of lent) pool.release(each);
  const refused = others.find((each) => each.status === "rejected");
  if (refused) throw refused.reason;
  return tookNs;
}

/** What one client does with the pool, by the names that `lending` uses; `pool.lent` is how many are lent. */
export function loansOf(pool, adapter) {
  return {
    borrow: () => pool.borrow(),
    seat: (lent) => {
      pool.lent++;
      adapter.seat(lent);
    },
    release: (lent) => {
      pool.lent--;
      pool.release(lent);
    },
  };
}

/** Does something on a borrowed connection, untimed. */
export async function onLoan(pool, adapter, work) {
  const { borrow, seat, release } = loansOf(pool, adapter);
  const lent = await borrow();
  try {
    seat(lent);
    return await work();
  } finally {
    release(lent);
  }
}

/** JavaScript that does an operation on a borrowed connection; it stamps `borrowed` and, once it succeeded, `worked`. */
export function lending(operation, rollback) {
  return `const lent = await borrow();
      borrowed = clock();
      try { seat(lent); ${operation} worked = clock(); }
      catch (error) { ${rollback} throw error; }
      finally { release(lent); }`;
}

/** JavaScript that counts a successful operation's loan, from `now` to `then`. */
export const COUNT_LOAN = "if (worked) { borrowing += borrowed - now; returning += then - worked; worked = 0; }";
