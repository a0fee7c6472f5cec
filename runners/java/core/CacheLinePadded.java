package rowpath;

/**
 * What one client writes in the clock lies at least 128 bytes behind the object before it: two
 * clients never write to the same cache line, nor to two that are fetched as a pair.
 */
abstract class CacheLinePadded {
  long p0;
  long p1;
  long p2;
  long p3;
  long p4;
  long p5;
  long p6;
  long p7;
  long p8;
  long p9;
  long p10;
  long p11;
  long p12;
  long p13;
  long p14;
  long p15;
}
