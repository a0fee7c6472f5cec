fn read(clock: libc::clockid_t) -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes into `time`, which is ours; each of these clocks exists.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// CLOCK_MONOTONIC.
#[inline]
pub fn now_ns() -> i64 {
    read(libc::CLOCK_MONOTONIC)
}

/// The CPU time of the calling thread.
pub fn thread_cpu_ns() -> i64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The CPU time of all the process's threads.
pub fn process_cpu_ns() -> i64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// The cost of one clock read: the least of several rounds.
pub fn clock_read_ns() -> f64 {
    const READS: i64 = 5000;
    let round = |_| {
        let start = now_ns();
        let last = (0..READS).fold(start, |_, _| now_ns());
        (last - start) as f64 / READS as f64
    };
    (0..20).map(round).fold(f64::MAX, f64::min)
}
