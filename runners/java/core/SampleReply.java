package rowpath;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The reply to {@code sample}, from what each client did. */
final class SampleReply {
  private SampleReply() {}

  /** One client's part of a sample; {@code first} is not wrapped. */
  record Part(
      long first,
      long operations,
      long failed,
      Map<String, Object> failure,
      long leadInOperations,
      long rows,
      long touch,
      long ns,
      long cpuNs,
      long minNs,
      long maxNs,
      long executeNs,
      long firstRowNs,
      long borrowNs,
      long returnNs,
      long connectNs,
      long windowNs,
      long windowCpuNs) {}

  /** The fields of the reply; with more than one part also {@code clients}. */
  static Map<String, Object> of(Phase phase, List<Part> parts) {
    Map<String, Object> reply = new LinkedHashMap<>();
    long rows = 0;
    long touch = 0;
    Map<String, Object> failure = null;
    for (Part part : parts) {
      rows += part.rows;
      touch += part.touch;
      failure = failure == null ? part.failure : failure;
    }
    reply.put("ns", parts.stream().mapToLong(Part::ns).max().orElseThrow());
    reply.put("operations", parts.stream().mapToLong(Part::operations).sum());
    reply.put("failed", parts.stream().mapToLong(Part::failed).sum());
    reply.put("failure", failure);
    reply.put("rows", rows);
    reply.put("values", rows * phase.columns().size());
    reply.put("touch", hex(touch));
    reply.put("first", parts.get(0).first);
    reply.put("lead_in_operations", parts.stream().mapToLong(Part::leadInOperations).sum());
    reply.put("window_ns", parts.stream().mapToLong(Part::windowNs).max().orElseThrow());
    reply.put("window_cpu_ns", parts.stream().mapToLong(Part::windowCpuNs).sum());
    reply.put("cpu_ns", parts.stream().mapToLong(Part::cpuNs).sum());
    reply.put("min_ns", parts.stream().mapToLong(Part::minNs).filter(ns -> ns > 0).min().orElse(0));
    reply.put("max_ns", parts.stream().mapToLong(Part::maxNs).max().orElseThrow());
    reply.put("execute_ns", parts.stream().mapToLong(Part::executeNs).sum());
    reply.put("first_row_ns", parts.stream().mapToLong(Part::firstRowNs).sum());
    reply.put("borrow_ns", parts.stream().mapToLong(Part::borrowNs).sum());
    reply.put("return_ns", parts.stream().mapToLong(Part::returnNs).sum());
    reply.put("connect_ns", parts.stream().mapToLong(Part::connectNs).sum());
    if (parts.size() > 1) {
      reply.put("clients", new ArrayList<>(parts.stream().map(SampleReply::client).toList()));
    }
    return reply;
  }

  private static Map<String, Object> client(Part part) {
    Map<String, Object> client = new LinkedHashMap<>();
    client.put("first", part.first);
    client.put("operations", part.operations);
    client.put("failed", part.failed);
    client.put("lead_in_operations", part.leadInOperations);
    client.put("rows", part.rows);
    client.put("ns", part.ns);
    client.put("cpu_ns", part.cpuNs);
    client.put("min_ns", part.minNs);
    client.put("max_ns", part.maxNs);
    return client;
  }

  static String hex(long value) {
    return String.format("%016x", value);
  }
}
