package rowpath;

import java.util.concurrent.CountDownLatch;

/** Holds the clients of a sample between their lead-ins and their blocks. */
final class StartBarrier {
  private final CountDownLatch coming;
  private final CountDownLatch open = new CountDownLatch(1);
  private long openedNs;

  StartBarrier(int clients) {
    coming = new CountDownLatch(clients);
  }

  /** Waits, as a client, until all have come; returns when the blocks began, for all the same. */
  long join() throws InterruptedException {
    coming.countDown();
    open.await();
    return openedNs;
  }

  /** Counts a client that cannot come. */
  void leave() {
    coming.countDown();
  }

  /** Waits until all clients have come. */
  void gather() throws InterruptedException {
    coming.await();
  }

  /** Lets all go on. */
  void release() {
    openedNs = System.nanoTime();
    open.countDown();
  }
}
