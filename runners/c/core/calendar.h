/* Proleptic Gregorian dates as days since 1970-01-01, and the parts of them that the touch sum takes. */
#ifndef RP_CALENDAR_H
#define RP_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#define RP_SECONDS_PER_DAY 86400LL
#define RP_US_PER_SECOND 1000000LL
#define RP_NS_PER_SECOND 1000000000LL

typedef struct rp_civil {
    int64_t year; /* 0 is 1 BC */
    unsigned month, day;
} rp_civil;

/* The civil date of `days`, within 160,000 years before and 2.7 million years after 1970.
   Source: C. Neri and L. Schneider, "Euclidean affine functions and their application to calendar algorithms", 2022. */
static inline rp_civil rp_civil_of_days(int32_t days) {
    const uint32_t eras = 400, shift = 719468u + 146097u * eras;
    uint32_t quarter_days = 4 * ((uint32_t)days + shift) + 3;
    uint32_t century = quarter_days / 146097;
    uint32_t day_of_century = 4 * (quarter_days % 146097 / 4) + 3;
    uint64_t product = 2939745ull * day_of_century;
    uint32_t year_of_century = (uint32_t)(product >> 32);
    uint32_t day_of_year = (uint32_t)product / 2939745 / 4;
    uint32_t month_and_day = 2141 * day_of_year + 197913;
    unsigned late = day_of_year >= 306; /* January and February belong to the next civil year */
    return (rp_civil){(int64_t)100 * century + year_of_century - (int64_t)400 * eras + late,
                      (month_and_day >> 16) - 12 * late, (month_and_day & 0xffff) / 2141 + 1};
}

/* The same of any day: eras of 400 years repeat. */
static inline rp_civil rp_civil_of_any(int64_t days) {
    int64_t era = days / 146097;
    rp_civil civil = rp_civil_of_days((int32_t)(days % 146097));
    civil.year += 400 * era;
    return civil;
}

/* Days since 1970-01-01 of a civil date, within ten million years; the inverse of `rp_civil_of_days`, by its source. */
static inline int64_t rp_days_of_civil(int64_t year, unsigned month, unsigned day) {
    const uint32_t eras = 25000;
    unsigned late = month <= 2; /* January and February belong to the year before, which ends with them */
    uint32_t shifted = (uint32_t)(year + (int64_t)400 * eras) - late, century = shifted / 100;
    uint64_t days_of_years = 1461ull * shifted / 4 - century + century / 4;
    uint32_t days_of_months = (979 * (month + 12 * late) - 2919) / 32;
    return (int64_t)(days_of_years + days_of_months + day) - ((int64_t)146097 * eras + 719469);
}

/* Whether the proleptic Gregorian calendar has the day. */
static inline bool rp_is_day(int64_t year, unsigned month, unsigned day) {
    static const unsigned char lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month - 1 < 12 && day >= 1 && day <= lengths[month - 1] + (unsigned)(leap && month == 2);
}

/* The second of the minute (0 to 59) of microseconds since 1970-01-01 or since midnight. */
static inline uint64_t rp_second_of_minute(int64_t us) {
    int64_t within = us % (60 * RP_US_PER_SECOND);
    return (uint64_t)((within < 0 ? within + 60 * RP_US_PER_SECOND : within) / RP_US_PER_SECOND);
}

/* value / divisor rounded towards minus infinity, for a positive divisor. */
static inline int64_t rp_floor_divide(int64_t value, int64_t divisor) {
    return value / divisor - (value % divisor < 0);
}

#endif
