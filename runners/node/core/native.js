// What Node does not offer of the system: descriptors, this thread's id and CPU time, shared memory, the parent's end.

import koffi from "koffi";
import { closeSync, fstatSync, openSync } from "node:fs";
import { Failure } from "./failure.js";

const libc = koffi.load("libc.so.6");
const PR_SET_PDEATHSIG = 1;
const PR_SET_NAME = 15;
const PR_SET_TIMERSLACK = 29;
const SIGKILL = 9;
const THREAD_CPU_CLOCK = 3;
const READ_AND_WRITE = 3;
const SHARED = 1;

export const duplicate = libc.func("int dup(int)");
export const duplicateOnto = libc.func("int dup2(int, int)");
export const threadId = libc.func("int gettid()");
/** Ends the process at once, whatever its threads do. */
export const exitAtOnce = libc.func("void _exit(int)");
const prctl = libc.func("int prctl(int, uintptr_t, uintptr_t, uintptr_t, uintptr_t)");
const prctlName = libc.func("prctl", "int", ["int", "str", "uintptr_t", "uintptr_t", "uintptr_t"]);
const clockGettime = libc.func("int clock_gettime(int, void *)");
const nanosleep = libc.func("int nanosleep(void *, void *)");
const poll = libc.func("int poll(void *, ulong, int)");
const mmap = libc.func("void *mmap(void *, size_t, int, int, int, int64_t)");
const spent = new BigInt64Array(2);
const pause = new BigInt64Array(2);

/** CPU time of the calling thread. */
export function threadCpuNs() {
  clockGettime(THREAD_CPU_CLOCK, spent);
  return Number(spent[0]) * 1e9 + Number(spent[1]);
}

/** Blocks the calling thread. */
export function sleepNs(ns) {
  pause[0] = BigInt(Math.floor(ns / 1e9));
  pause[1] = BigInt(Math.floor(ns % 1e9));
  nanosleep(pause, null);
}

/** Lets the kernel kill this process when its parent ends, however that ends. */
export function dieWithParent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

/** Names the calling thread: the runtime's own, which were there before, keep theirs. */
export function nameThread(name) {
  prctlName(PR_SET_NAME, name, 0, 0, 0);
}

/** The kernel wakes this thread as exactly as it can; otherwise up to 50 µs late. */
export function wakePunctually(punctually) {
  prctl(PR_SET_TIMERSLACK, punctually ? 1 : 0, 0, 0, 0);
}

/** Sleeps until the other end of this descriptor is closed. */
export function waitForHangUp(descriptor) {
  const watched = new Int32Array([descriptor, 0]); // no events: only the hang-up is reported
  while (poll(watched, 1, -1) < 1);
}

/** The bytes of a file, shared with every process that maps it. Failure when it cannot be mapped. */
export function mapShared(file) {
  try {
    const descriptor = openSync(file, "r+");
    const { size } = fstatSync(descriptor);
    const address = mmap(null, size, READ_AND_WRITE, SHARED, descriptor, 0);
    closeSync(descriptor);
    return koffi.view(address, size);
  } catch (error) {
    throw new Failure("internal", `the shared counters ${file}: ${error.message}`);
  }
}
