use super::failure::Failure;
use serde::Serialize;

/// What one client did in a sample; `first` is not wrapped.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Part {
    pub first: i64,
    pub operations: i64,
    pub failed: i64,
    pub lead_in_operations: i64,
    pub rows: i64,
    pub ns: i64,
    pub cpu_ns: i64,
    pub min_ns: i64,
    pub max_ns: i64,
    #[serde(skip)]
    pub touch: i64,
    #[serde(skip)]
    pub failure: Option<Failure>,
    #[serde(skip)]
    pub execute_ns: i64,
    #[serde(skip)]
    pub first_row_ns: i64,
    #[serde(skip)]
    pub connect_ns: i64,
    #[serde(skip)]
    pub borrow_ns: i64,
    #[serde(skip)]
    pub return_ns: i64,
    #[serde(skip)]
    pub window_ns: i64,
    #[serde(skip)]
    pub window_cpu_ns: i64,
}

/// The reply to `sample`.
#[derive(Serialize)]
pub struct SampleReply {
    #[serde(flatten)]
    pub total: Part,
    values: i64,
    touch: String,
    failure: Option<Failure>,
    execute_ns: i64,
    first_row_ns: i64,
    connect_ns: i64,
    borrow_ns: i64,
    return_ns: i64,
    pub window_ns: i64,
    pub window_cpu_ns: i64,
    collector_ns: i64, // there is no collector
    collections: i64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clients: Vec<Part>,
}

impl SampleReply {
    /// From what each client did.
    pub fn of(parts: Vec<Part>, columns: usize) -> SampleReply {
        let mut total = parts[0].clone();
        for part in &parts[1..] {
            total.add(part);
        }
        SampleReply {
            values: total.rows * columns as i64,
            touch: hex(total.touch),
            failure: total.failure.take(),
            execute_ns: total.execute_ns,
            first_row_ns: total.first_row_ns,
            connect_ns: total.connect_ns,
            borrow_ns: total.borrow_ns,
            return_ns: total.return_ns,
            window_ns: total.window_ns,
            window_cpu_ns: total.window_cpu_ns,
            collector_ns: 0,
            collections: 0,
            clients: if parts.len() > 1 { parts } else { Vec::new() },
            total,
        }
    }
}

impl Part {
    fn add(&mut self, other: &Part) {
        self.operations += other.operations;
        self.failed += other.failed;
        self.lead_in_operations += other.lead_in_operations;
        self.rows += other.rows;
        self.cpu_ns += other.cpu_ns;
        self.window_cpu_ns += other.window_cpu_ns;
        self.touch = self.touch.wrapping_add(other.touch);
        self.execute_ns += other.execute_ns;
        self.first_row_ns += other.first_row_ns;
        self.borrow_ns += other.borrow_ns;
        self.return_ns += other.return_ns;
        self.ns = self.ns.max(other.ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        if self.min_ns == 0 || (other.min_ns > 0 && other.min_ns < self.min_ns) {
            self.min_ns = other.min_ns;
        }
        if self.failure.is_none() {
            self.failure.clone_from(&other.failure);
        }
    }
}

/// A 64-bit sum as 16 hexadecimal digits.
pub fn hex(value: i64) -> String {
    format!("{:016x}", value as u64)
}
