package rowpath.adapters;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import rowpath.Adapter;
import rowpath.Failure;
import rowpath.Operation;
import rowpath.Options;
import rowpath.Phase;

/** One byte there and back: the floor of a placement and a transport. */
public final class Ping implements Adapter {
  private SocketChannel channel;

  @Override
  public void open(Options options) throws IOException {
    if (options.get("transport", "tcp").equals("unix")) {
      channel = SocketChannel.open(UnixDomainSocketAddress.of(options.need("socket")));
      return;
    }
    int port = Integer.parseInt(options.need("port"));
    InetAddress host = InetAddress.getByName(options.get("host", "127.0.0.1"));
    channel = SocketChannel.open(new InetSocketAddress(host, port));
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
  }

  @Override
  public Operation prepare(Phase phase, Object[][] rows) {
    if (!phase.kind().equals("null")) {
      throw new Failure("unsupported", "", "a ping has no operation of kind " + phase.kind());
    }
    ByteBuffer there = ByteBuffer.allocateDirect(1);
    ByteBuffer back = ByteBuffer.allocateDirect(1);
    return (row, counters) -> {
      channel.write(there.clear());
      if (channel.read(back.clear()) != 1) {
        throw new EOFException("the ping server has closed the connection");
      }
    };
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
