//! Dates and times as the crate chrono has them.
use crate::core::{Date, Day, Moment, OfDay, Outcome, SECOND_NS, Time, Wall, unsupported};
use ::chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike, Utc};

const DAYS_TO_1970: i32 = 719_163; // from the day before 0001-01-01

pub fn date(value: Date) -> Outcome<NaiveDate> {
    let made = NaiveDate::from_ymd_opt(value.year, value.month.into(), value.day.into());
    made.ok_or_else(|| unsupported("a day that chrono has not"))
}

pub fn time(value: Time) -> Outcome<NaiveTime> {
    let parts = (u32::try_from(value.0 / SECOND_NS), u32::try_from(value.0 % SECOND_NS));
    let made = match parts {
        (Ok(seconds), Ok(ns)) => NaiveTime::from_num_seconds_from_midnight_opt(seconds, ns),
        _ => None,
    };
    made.ok_or_else(|| unsupported("a time of day that chrono has not"))
}

pub fn instant(value: Moment) -> Outcome<DateTime<Utc>> {
    DateTime::from_timestamp(value.seconds, value.nanoseconds).ok_or_else(|| unsupported("a time that chrono has not"))
}

impl Day for NaiveDate {
    fn day_of_month(&self) -> u32 {
        self.day()
    }
    fn days(&self) -> i32 {
        self.num_days_from_ce() - DAYS_TO_1970
    }
}

impl OfDay for NaiveTime {
    fn second_of_minute(&self) -> u32 {
        self.second()
    }
    fn ns(&self) -> i64 {
        i64::from(self.num_seconds_from_midnight()) * SECOND_NS + i64::from(self.nanosecond())
    }
}

impl Wall for NaiveDateTime {
    fn second_of_minute(&self) -> u32 {
        self.second()
    }
    fn moment(&self) -> Moment {
        self.and_utc().moment()
    }
}

impl Wall for DateTime<Utc> {
    fn second_of_minute(&self) -> u32 {
        self.second()
    }
    fn moment(&self) -> Moment {
        Moment { seconds: self.timestamp(), nanoseconds: self.timestamp_subsec_nanos() }
    }
}
