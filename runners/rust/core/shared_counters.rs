use super::failure::{Outcome, fail};
use super::slot::{SLOT_BYTES_LEAST, Slot};
use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::ptr::null_mut;

const CONTROL_BYTES: usize = 16;

/// Memory in which each client counts its operations for the controller (PROTOCOL.md).
pub struct SharedCounters {
    data: *mut u8,
    bytes: usize,
}

impl SharedCounters {
    /// Maps the file; it stays mapped, because clients may outlive whoever began them.
    pub fn map(name: &str) -> Outcome<SharedCounters> {
        let failed = |error| fail("internal", format!("the shared counters: {error}"));
        let file = OpenOptions::new().read(true).write(true).open(name).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len() as usize;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh mapping of a file of that length, at an address of the kernel's choice.
        let data = unsafe { libc::mmap(null_mut(), bytes, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if data == libc::MAP_FAILED {
            return Err(failed(std::io::Error::last_os_error()));
        }
        Ok(SharedCounters { data: data.cast(), bytes })
    }

    /// One client's slot; `acknowledged` is the offset within it of counts for each row, or 0.
    pub fn slot(&self, control: usize, at: usize, bytes: usize, acknowledged: usize, rows: usize) -> Outcome<Slot> {
        let needed = if acknowledged > 0 { acknowledged + 8 * rows } else { SLOT_BYTES_LEAST };
        if bytes < needed {
            return Err(fail("internal", format!("a slot of {bytes} bytes, {needed} needed")));
        }
        if control.saturating_add(CONTROL_BYTES) > self.bytes || at.saturating_add(needed) > self.bytes {
            return Err(fail("internal", format!("the shared counters end at {}, not {}", self.bytes, at + needed)));
        }
        if !(control | at | acknowledged).is_multiple_of(8) {
            return Err(fail("internal", "a slot that is not at a word of 8 bytes"));
        }
        // SAFETY: control words, slot and counts lie inside the mapping, which lasts, and at words of their own.
        unsafe {
            let counts = (acknowledged > 0 && rows > 0).then(|| self.data.add(at + acknowledged).cast_const().cast());
            Ok(Slot::new(self.data.add(control).cast(), self.data.add(at).cast(), counts, rows))
        }
    }
}
