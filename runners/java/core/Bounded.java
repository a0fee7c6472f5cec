package rowpath;

import java.util.List;

/** An array whose first element has another number than 1. */
public record Bounded(int lower, List<?> elements) {}
