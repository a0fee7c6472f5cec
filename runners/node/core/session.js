// A session: one controller's requests, each with its reply.

import { ClientGroups } from "./client_groups.js";
import { ClientTasks } from "./client_tasks.js";
import { ClientThreads } from "./client_threads.js";
import { clock, clockReadNs } from "./clock.js";
import { readParameters } from "./decoder.js";
import { Failure, failureOf, Unsupported } from "./failure.js";
import { tryInterruption } from "./interruption.js";
import { store } from "./load.js";
import { threadId } from "./native.js";
import { Phase } from "./phase.js";
import { fill, poolOf } from "./pool.js";

const PROTOCOL = [3, 0];
const CODEC = 2;
const VERSION = "1";
const KNOWN = new Set(["touch", "digest", "load", "clients", "interrupt", "describe", "client-groups"]);
export const LIMIT_BYTES = 16 << 20; // of a request

/** One controller's session with one adapter. */
export class Session {
  constructor(driver, Adapter, source = "") {
    this.driver = driver;
    this.Adapter = Adapter;
    this.source = source;
    this.adapter = null;
    this.clients = null;
    this.phases = new Map();
    this.groups = null;
  }

  /** The reply to a request, without its id. */
  async answer(request) {
    const handler = HANDLERS[request.type];
    try {
      if (!handler) throw new Unsupported(`this runner does not know requests of type ${JSON.stringify(request.type)}`);
      if (this.groups && !["client-groups-end", "bye"].includes(request.type)) {
        throw new Failure("internal", `groups are at work: ${request.type} must wait for client-groups-end`);
      }
      return await handler.call(this, request);
    } catch (error) {
      return { error: failureOf(error, this.adapter, request.type) };
    }
  }

  #opened() {
    if (!this.adapter) throw new Failure("internal", "nothing is open");
    return this.adapter;
  }

  #prepared(name) {
    this.#opened();
    const prepared = this.phases.get(name);
    if (!prepared) throw new Failure("internal", `phase '${name}' is not prepared`);
    return prepared;
  }

  hello(request) {
    const refuse = (text) => {
      throw new Unsupported(text);
    };
    if (request.protocol[0] !== PROTOCOL[0])
      refuse(`protocol ${request.protocol} is not ${PROTOCOL}, the one spoken here`);
    if (request.codec !== CODEC) refuse(`codec ${request.codec} is not ${CODEC}, the one known here`);
    const unknown = request.requires.find((name) => !KNOWN.has(name));
    if (unknown) refuse(`requirement '${unknown}' is not known here`);
    if (request.adapter !== this.driver)
      refuse(`adapter '${request.adapter}' is requested, '${this.driver}' was started`);
    return {
      protocol: PROTOCOL,
      codec: CODEC,
      language: "node",
      runner: `rowpath-node ${VERSION}`,
      adapter: this.driver,
      pid: process.pid,
      loop_tid: threadId(),
      clock_read_ns: clockReadNs(),
    };
  }

  async open({ options }) {
    if (this.adapter) throw new Failure("internal", "a connection is open already");
    const { Adapter } = this;
    const adapter = new Adapter(options);
    const count = Number(options.clients ?? 1);
    const concurrency = options.concurrency ?? Adapter.concurrency;
    if (count > 1 && concurrency !== Adapter.concurrency) {
      throw new Unsupported(`this driver's clients run as ${Adapter.concurrency}, not as ${concurrency}`);
    }
    const Clients = Adapter.concurrency === "tasks" ? ClientTasks : ClientThreads;
    let clients;
    try {
      const pool = await poolOf(adapter);
      const started = clock();
      const delivers = pool ? {} : await adapter.connect();
      let connectNs = clock() - started;
      clients = new Clients(adapter, this.driver, this.source);
      clients.pool = pool;
      if (pool) connectNs = await fill(pool, pool.size);
      await clients.openOthers(count - 1);
      const serverPid = (await clients.onFirst(() => adapter.serverPid())) ?? null;
      [this.adapter, this.clients] = [adapter, clients];
      return { connect_ns: connectNs, server_pid: serverPid, delivers: delivers ?? {} };
    } catch (error) {
      const failure = failureOf(error, adapter, "open");
      await clients?.close().catch(() => {}); // what failed first is reported
      return { error: failure };
    }
  }

  async prepare({ phase: spec, parameters: slice }) {
    this.#opened();
    const phase = new Phase(spec);
    const parameters = slice ? readParameters(slice, phase.parameterColumns) : null;
    const prepared = await this.clients.prepare(phase, parameters, spec, slice);
    this.phases.set(phase.name, prepared);
    return { prepare_ns: prepared.sampler.operation.prepareNs, parameters: parameters?.length ?? 0 };
  }

  async sample(request) {
    const { failure, ...reply } = await this.clients.sample(this.#prepared(request.phase), request);
    return { ...reply, failure: failure ? failureOf(failure, this.adapter, "sample") : null };
  }

  verify({ phase, first, count, max_rows: most = 200_000, keep = "" }) {
    return this.#prepared(phase).sampler.verify(first, count, most, keep);
  }

  async startGroups(request) {
    this.#opened();
    const groups = new ClientGroups(this.clients, this.phases, request);
    await groups.gather();
    this.groups = groups;
    return { clients: groups.count };
  }

  async endGroups() {
    const { groups } = this;
    if (!groups) throw new Failure("internal", "no groups are at work");
    try {
      return { client_groups: await groups.totals() };
    } finally {
      this.groups = null;
    }
  }

  async load({ phase: name, first, count }) {
    const { phase, parameters } = this.#prepared(name);
    const rows = parameters ?? [];
    if (first < 0 || count < 0 || first + count > rows.length) {
      throw new Failure("internal", `the phase has ${rows.length} parameters, not [${first}, ${first + count})`);
    }
    const started = clock();
    await this.clients.onFirst((adapter) => store(adapter, phase, rows.slice(first, first + count)));
    return { rows: count, ns: clock() - started };
  }

  interrupt({ kind, sql, after_ms: afterMs, most_ms: mostMs }) {
    return tryInterruption(this.Adapter, this.#opened().options, kind, sql, afterMs, mostMs);
  }

  async describe({ sql }) {
    this.#opened();
    return { columns: await this.clients.onFirst((adapter) => adapter.describe(sql)) };
  }

  async run({ statements, ignore_errors: ignoreErrors }) {
    this.#opened();
    const ns = [];
    for (const statement of statements) {
      const started = clock();
      try {
        await this.clients.onFirst((adapter) => adapter.run(statement));
      } catch (error) {
        if (!ignoreErrors) throw error;
      }
      ns.push(clock() - started);
    }
    return { ns };
  }

  async facts() {
    this.#opened();
    const own = this.clients.facts; // before a connection is borrowed for the others
    const found = await this.clients.onFirst((adapter) => adapter.facts());
    const settings = { ...found.settings, ...own, node_options: process.execArgv.join(" ") };
    for (const [name, value] of Object.entries(settings)) settings[name] = String(value);
    const facts = { driver_version: "", engine_version: "", build: "", libraries: {}, ...found, settings };
    return { ...facts, runtime: `Node ${process.versions.node}, V8 ${process.versions.v8} (${process.execPath})` };
  }

  async close() {
    this.#opened();
    const started = clock();
    await this.#close();
    return { close_ns: clock() - started };
  }

  async bye() {
    if (!this.groups) await this.#close();
    return {};
  }

  async #close() {
    const { clients } = this;
    [this.clients, this.adapter, this.phases] = [null, null, new Map()];
    await clients?.close();
  }
}

const of = Session.prototype;
const HANDLERS = Object.assign(Object.create(null), {
  hello: of.hello,
  open: of.open,
  prepare: of.prepare,
  sample: of.sample,
  verify: of.verify,
  "client-groups": of.startGroups,
  "client-groups-end": of.endGroups,
  load: of.load,
  interrupt: of.interrupt,
  describe: of.describe,
  run: of.run,
  facts: of.facts,
  close: of.close,
  bye: of.bye,
});
