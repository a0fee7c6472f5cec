use super::client_groups::GroupRequest;
use super::failure::{Outcome, fail, unsupported};

/// When the operations of one client are due, and how it waits; of a closed loop none is ever due.
pub struct Pacing {
    pub is_open: bool,
    is_poisson: bool,
    distance_ns: f64,
    first_ns: f64,
    state: u64,
    drawn_ns: f64,
    drawn: i64,
    pub pause_ns: i64, // closed loop: between two operations
    pub spin_ns: i64,  // open loop: for so long before an operation is due the client does not sleep
}

impl Pacing {
    pub fn new(group: &GroupRequest, client: usize) -> Outcome<Pacing> {
        let is_open = group.pacing != "closed";
        let is_poisson = group.pacing == "poisson";
        if is_open && !is_poisson && group.pacing != "fixed" {
            return Err(unsupported(format!("the Rust runner has no pacing {}", group.pacing)));
        }
        if is_open && (group.rate_per_s <= 0.0 || group.rate_per_s.is_nan()) {
            return Err(fail(
                "internal",
                format!("{} pacing at a rate of {} a second", group.pacing, group.rate_per_s),
            ));
        }
        let distance_ns = if is_open { group.clients as f64 / group.rate_per_s * 1e9 } else { 0.0 };
        Ok(Pacing {
            is_open,
            is_poisson,
            distance_ns,
            first_ns: distance_ns * client as f64 / group.clients as f64,
            state: (group.seed as u64).wrapping_add(client as u64),
            drawn_ns: 0.0,
            drawn: 0,
            pause_ns: if is_open { 0 } else { group.pause_ns },
            spin_ns: if is_open { group.spin_ns } else { 0 },
        })
    }

    /// When the next operation is due, in ns after the begin; each call goes one operation on.
    pub fn next(&mut self) -> i64 {
        if !self.is_poisson {
            self.drawn += 1;
            return (self.first_ns + (self.drawn - 1) as f64 * self.distance_ns) as i64;
        }
        let share = (self.draw() >> 11) as f64 / (1_u64 << 53) as f64;
        self.drawn_ns -= (1.0 - share).ln() * self.distance_ns;
        self.drawn_ns as i64
    }

    /// SplitMix64 (Steele, Lea, Flood 2014).
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }
}
