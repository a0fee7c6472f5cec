// A pool that all clients of a path share: how it is opened, and what an operation does with it.

import { clock } from "./clock.js";
import { Failure, Unsupported } from "./failure.js";

const PATIENCE_S = 30;

/** The pool that a path names, not connected yet; null where it names none. Unsupported where the driver lacks it. */
export async function poolOf(adapter) {
  const { pool: name = "none", pool_size: size = 1, validation = "none", profile } = adapter.options;
  if (name === "none") return null;
  if (!adapter.constructor.pools.includes(name)) throw new Unsupported(`this driver has no pool '${name}'`);
  if (validation !== "none") throw new Unsupported(`the pool ${name} has no validation '${validation}'`);
  const { default: Pool } = await import(`../pools/${name.replaceAll("-", "_")}.js`);
  const pool = new Pool(adapter.poolSettings, Math.max(Number(size), 1), profile === "shipped");
  return Object.assign(pool, { lent: 0, waiting: new Set() });
}

/** The connection that comes, an Error after 30 s, or whatever is given to one of `pool.waiting` before it comes. */
function inTime(pool, coming) {
  return new Promise((resolve, reject) => {
    let over = false;
    const end = () => {
      clearTimeout(timer);
      pool.waiting.delete(refuse);
    };
    const refuse = (error) => {
      over = true;
      end();
      reject(error);
    };
    const come = (lent) => {
      if (over) return pool.release(lent);
      end();
      resolve(lent);
    };
    const late = new Failure("connect", `the pool lent no connection for ${PATIENCE_S} s`);
    const timer = setTimeout(refuse, PATIENCE_S * 1000, late);
    pool.waiting.add(refuse);
    coming.then(come, refuse);
  });
}

/** Borrows a connection; only who must wait for it has a timer, which costs time inside the clock. */
function loan(pool) {
  const { free } = pool; // before one is taken
  const coming = pool.borrow();
  return free ? coming : inTime(pool, coming);
}

/** Opens so many connections: how long that took. */
export async function fill(pool, size) {
  const started = clock();
  const lent = [await inTime(pool, pool.borrow())];
  const coming = Array.from({ length: size - 1 }, () => inTime(pool, pool.borrow()));
  const others = await Promise.allSettled(coming);
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
    borrow: () => loan(pool),
    // Whether the connection, or the pool, was lost with this error.
    loses: (error) => pool.loses?.(error) ?? false,
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
  const { borrow, loses, seat, release } = loansOf(pool, adapter);
  const lent = await borrow();
  try {
    seat(lent);
    return await work();
  } catch (error) {
    loses(error);
    throw error;
  } finally {
    release(lent);
  }
}

/**
 * JavaScript that does an operation on a borrowed connection; it stamps `borrowed` and, once it succeeded, `worked`. A
 * lost connection is not rolled back: a statement on it could end the process.
 */
export function lending(operation, rollback) {
  return `const lent = await borrow();
      borrowed = clock();
      try { seat(lent); ${operation} worked = clock(); }
      catch (error) { if (!loses(error)) { ${rollback} } throw error; }
      finally { release(lent); }`;
}

/** JavaScript that counts a successful operation's loan, from `now` to `then`. */
export const COUNT_LOAN = "if (worked) { borrowing += borrowed - now; returning += then - worked; worked = 0; }";
