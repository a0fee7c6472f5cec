/* What a small program needs around its loop: settings and commands on stdin,
   keys from a file, the clock, and a timestamp from its text. Settings are
   lines `name=value` up to an empty line; then each line is a number of
   operations, answered by `nanoseconds touch`; a program adds the nanoseconds
   that it times within an operation, if any. The password comes this way, so it
   is on no command line. */
#ifndef HAND_WRITTEN_COMMON_H
#define HAND_WRITTEN_COMMON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_SETTINGS 32
#define MOST_KEYS 100000

static char *names[MOST_SETTINGS], *values[MOST_SETTINGS];
static int setting_count;
static char *keys[MOST_KEYS];
static int key_count;
static volatile char
    last_byte; /* so that a length alone is not taken for the text */

static const char *setting(const char *name) {
  for (int i = 0; i < setting_count; i++)
    if (strcmp(names[i], name) == 0)
      return values[i];
  return NULL;
}

static void die(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static void read_settings(void) {
  char line[4096];
  while (fgets(line, sizeof line, stdin) != NULL && line[0] != '\n' &&
         setting_count < MOST_SETTINGS) {
    line[strcspn(line, "\n")] = '\0';
    char *equals = strchr(line, '=');
    if (equals == NULL)
      die("a setting is name=value");
    *equals = '\0';
    names[setting_count] = strdup(line);
    values[setting_count++] = strdup(equals + 1);
  }
}

static inline void read_keys(const char *file) {
  char line[256];
  FILE *in = fopen(file, "r");
  if (in == NULL)
    die("the file of keys cannot be read");
  while (key_count < MOST_KEYS && fgets(line, sizeof line, in) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    keys[key_count++] = strdup(line);
  }
  fclose(in);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int two(const char *text) {
  return (text[0] - '0') * 10 + (text[1] - '0');
}

/* Seconds since 1970. */
static inline int64_t seconds_of(int year, int month, int day, int hour,
                                 int minute, int second) {
  int shifted = month <= 2 ? year - 1 : year;
  int era = shifted / 400, of_era = shifted % 400;
  int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  int64_t days = (int64_t)era * 146097 + of_era * 365 + of_era / 4 -
                 of_era / 100 + of_year - 719468;
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

/* `2000-11-07 01:02:03.456789` as microseconds since 1970. */
static inline int64_t timestamp_us(const char *text) {
  int64_t us =
      seconds_of(two(text) * 100 + two(text + 2), two(text + 5), two(text + 8),
                 two(text + 11), two(text + 14), two(text + 17)) *
      1000000;
  if (text[19] == '.') {
    int64_t unit = 100000;
    for (const char *digit = text + 20; *digit >= '0' && *digit <= '9';
         digit++, unit /= 10)
      us += (*digit - '0') * unit;
  }
  return us;
}

/* Of text that holds nothing else; atoi asks the locale and takes longer. */
static inline int64_t integer_of(const char *text) {
  bool negative = *text == '-';
  int64_t value = 0;
  for (text += negative; *text >= '0' && *text <= '9'; text++)
    value = 10 * value + (*text - '0');
  return negative ? -value : value;
}

static inline uint64_t second_of(int64_t us) {
  int64_t second = us / 1000000 % 60;
  return (uint64_t)(us % 1000000 < 0 ? (second + 119) % 60
                                     : (second + 60) % 60);
}

static inline uint64_t text_touch(const char *text, int length) {
  if (length > 0)
    last_byte = text[length - 1];
  return (uint64_t)length;
}

/* `run` does so many operations and returns the sum over all values. */
static void serve(uint64_t (*run)(long)) {
  char line[64];
  puts("ready");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin) != NULL) {
    long operations = atol(line);
    int64_t begin = now_ns();
    uint64_t touch = run(operations);
    int64_t end = now_ns();
    printf("%lld %llu\n", (long long)(end - begin), (unsigned long long)touch);
    fflush(stdout);
  }
}

#endif
