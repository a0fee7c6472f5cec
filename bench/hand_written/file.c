/* The delimited text file of the web hits, read in blocks, each value taken
 * where it stands: text between delimiters, numbers digit by digit. */
#include <fcntl.h>
#include <unistd.h>

#include "common.h"

#define BLOCK_BYTES (256 * 1024)

static char buffer[2 * BLOCK_BYTES]; /* the begin of a line, and a block */
static char plain[BLOCK_BYTES];      /* a text without its escapes */
static char name[4096];
static char delimiter;

static void expect(bool right) {
  if (!right)
    die("a line is not that of a hit");
}

/* Escapes are rare: a text that has one is copied without. */
static __attribute__((noinline)) const char *
take_escaped(const char *at, const char *end, uint64_t *touch) {
  int length = 0;
  for (; at < end && *at != delimiter; at++) {
    if (*at == '\\' && ++at == end)
      break;
    plain[length++] = *at;
  }
  expect(at < end);
  *touch += text_touch(plain, length);
  return at + 1;
}

static inline const char *take_text(const char *at, const char *end,
                                    uint64_t *touch) {
  const char *stop = memchr(at, delimiter, end - at);
  expect(stop != NULL);
  if (memchr(at, '\\', stop - at) != NULL)
    return take_escaped(at, end, touch);
  *touch += text_touch(at, stop - at);
  return stop + 1;
}

/* NULL is \N and counts 1. */
static inline const char *take_integer(const char *at, char ends,
                                       uint64_t *touch) {
  if (at[0] == '\\' && at[1] == 'N') {
    *touch += 1;
    at += 2;
  } else {
    bool negative = *at == '-';
    int64_t value = 0;
    at += negative;
    expect(*at >= '0' && *at <= '9');
    for (; *at >= '0' && *at <= '9'; at++)
      value = 10 * value + (*at - '0');
    *touch += (uint64_t)(negative ? -value : value);
  }
  expect(*at == ends);
  return at + 1;
}

static inline const char *take_timestamp(const char *at, const char *end,
                                         uint64_t *touch) {
  const char *stop = memchr(at, delimiter, end - at);
  expect(stop != NULL && stop - at >= 19);
  *touch += second_of(timestamp_us(at));
  return stop + 1;
}

/* Whole lines only. */
static uint64_t take_lines(const char *at, const char *end) {
  uint64_t touch = 0;
  while (at < end) {
    at = take_text(at, end, &touch);
    at = take_text(at, end, &touch);
    at = take_text(at, end, &touch);
    at = take_timestamp(at, end, &touch);
    at = take_integer(at, delimiter, &touch);
    at = take_integer(at, delimiter, &touch);
    at = take_integer(at, '\n', &touch);
  }
  return touch;
}

static uint64_t scan(long operations) {
  uint64_t touch = 0;
  for (long i = 0; i < operations; i++) {
    size_t kept = 0;
    ssize_t count;
    int file = open(name, O_RDONLY);
    if (file < 0)
      die("the file cannot be opened");
    while ((count = read(file, buffer + kept, BLOCK_BYTES)) > 0) {
      const char *end = buffer + kept + count;
      const char *last = memrchr(buffer, '\n', kept + count);
      const char *whole = last != NULL ? last + 1 : buffer;
      touch += take_lines(buffer, whole);
      kept = end - whole;
      if (kept > BLOCK_BYTES)
        die("a line is longer than a block");
      memmove(buffer, whole, kept);
    }
    if (count < 0 || kept > 0)
      die("the file cannot be read, or its last line does not end");
    close(file);
  }
  return touch;
}

int main(void) {
  read_settings();
  snprintf(name, sizeof name, "%s/hits.tbl", setting("path"));
  delimiter = setting("delimiter")[0];
  serve(scan);
  return 0;
}
