use super::decimal::Decimal;

pub const SECOND_NS: u64 = 1_000_000_000;
const DAY_S: i64 = 86_400;

/// A parameter as its natural value.
#[derive(Clone, Debug)]
pub enum Value {
    Null,
    Integer(i64),
    Decimal(Decimal),
    Float(f64),
    Boolean(bool),
    Text(String),
    Binary(Vec<u8>),
    Date(Date),
    Time(Time),
    Timestamp(Moment),
    Instant(Moment),
    Interval(Interval),
    Uuid([u8; 16]),
    Array(Vec<Option<i64>>),
    Infinite { negative: bool },
}

/// Parameter rows.
pub type Rows = Vec<Vec<Value>>;

/// A day of the proleptic Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    pub year: i32,
    pub month: u8,
    pub day: u8,
}

/// Nanoseconds since midnight.
#[derive(Clone, Copy, Debug)]
pub struct Time(pub u64);

/// Seconds since 1970-01-01 00:00, floored, and nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub seconds: i64,
    pub nanoseconds: u32,
}

/// Months, days and nanoseconds, none of which can be turned into another.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    pub months: i32,
    pub days: i32,
    pub nanoseconds: i64,
}

const MARCH: i64 = 3;
const DAYS_OF_400_YEARS: i64 = 146_097;
const DAYS_TO_1970: i64 = 719_468; // from 0000-03-01

impl Date {
    /// Days since 1970-01-01; years are counted from March, so that a leap day ends one.
    pub fn days(self) -> i32 {
        let months = i64::from(self.year) * 12 + i64::from(self.month) - MARCH;
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12));
        let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        let in_year = (153 * month + 2) / 5 + i64::from(self.day) - 1;
        (365 * year + leaps + in_year - DAYS_TO_1970) as i32
    }

    /// The day so many days after 1970-01-01.
    pub fn of_days(days: i32) -> Date {
        let days = i64::from(days) + DAYS_TO_1970;
        let (era, in_era) = (days.div_euclid(DAYS_OF_400_YEARS), days.rem_euclid(DAYS_OF_400_YEARS));
        let year = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
        let in_year = in_era - (365 * year + year / 4 - year / 100);
        let month = (5 * in_year + 2) / 153;
        let day = in_year - (153 * month + 2) / 5 + 1;
        let months = (400 * era + year) * 12 + month + MARCH - 1;
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
        Date { year: year as i32, month: month as u8, day: day as u8 }
    }

    /// The instant of the day so many nanoseconds after its midnight.
    pub fn at(self, time: Time) -> Moment {
        let seconds = i64::from(self.days()) * DAY_S + (time.0 / SECOND_NS) as i64;
        Moment { seconds, nanoseconds: (time.0 % SECOND_NS) as u32 }
    }
}

impl Moment {
    pub fn date(self) -> Date {
        Date::of_days(self.seconds.div_euclid(DAY_S) as i32)
    }

    pub fn time(self) -> Time {
        Time(self.seconds.rem_euclid(DAY_S) as u64 * SECOND_NS + u64::from(self.nanoseconds))
    }
}
