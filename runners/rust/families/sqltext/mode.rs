use crate::core::Options;

/// How a statement is sent, as the coordinate `statement` has it.
#[derive(Clone, Copy, PartialEq)]
pub enum Mode {
    /// Prepared once, or kept by the connection by its text.
    Prepared,
    /// Prepared again for each execution, with parameters.
    Bound,
    /// With the values inside.
    Text,
}

impl Mode {
    pub fn of(options: &Options) -> Mode {
        match options.get("statement", "prepared").as_str() {
            "text" => Mode::Text,
            "bound" => Mode::Bound,
            _ => Mode::Prepared,
        }
    }
}
