//! No engine at all: the loop with nothing in it, or with a burn or a stall of known length.
use rowpath::core::{
    Adapter, Column, Counters, Delivered, Facts, Operation, Options, Outcome, Phase, Rows, Threads, now_ns, unsupported,
};
use std::sync::Arc;
use std::time::Duration;

fn main() {
    rowpath::core::serve::<Null>("null");
}

struct Null {
    burn_ns: i64,
    stall_ns: u64,
    stall_every: u64,
}

impl Adapter for Null {
    type Runtime = Threads;
    type Operation = Nothing;

    async fn open(options: &Options) -> Outcome<Null> {
        let (burn_ns, stall_ns) = (options.number("burn_ns") as i64, options.number("stall_ns"));
        Ok(Null { burn_ns, stall_ns, stall_every: options.number("stall_every").max(1) })
    }

    async fn prepare(&mut self, phase: &Arc<Phase>, _: &Arc<Rows>) -> Outcome<Nothing> {
        if phase.kind != "null" {
            return Err(unsupported(format!("the null engine has no operation of kind {}", phase.kind)));
        }
        Ok(Nothing { count: 0 })
    }

    fn delivers(&self, _: &Column) -> Delivered {
        Delivered::natural("none")
    }

    async fn load(&mut self, _: &Arc<Phase>, _: &Arc<Rows>, _: usize, _: usize) -> Outcome<()> {
        Err(unsupported("this path cannot load rows"))
    }

    async fn facts(&mut self, facts: &mut Facts) -> Outcome<()> {
        facts.driver_version = "none".into();
        Ok(())
    }

    async fn close(self) -> Outcome<()> {
        Ok(())
    }
}

struct Nothing {
    count: u64,
}

impl Operation for Nothing {
    type Adapter = Null;

    async fn run(&mut self, null: &mut Null, _: usize, _: &mut Counters) -> Outcome<()> {
        if null.burn_ns > 0 {
            let end = now_ns() + null.burn_ns;
            while now_ns() < end {}
        }
        if null.stall_ns > 0 {
            self.count += 1;
            if self.count.is_multiple_of(null.stall_every) {
                std::thread::sleep(Duration::from_nanos(null.stall_ns));
            }
        }
        Ok(())
    }
}
