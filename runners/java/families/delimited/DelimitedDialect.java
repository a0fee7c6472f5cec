package rowpath.delimited;

import rowpath.Options;

/**
 * How a delimited file is written (runners/PROTOCOL.md, open): in Rowpath's own form, with
 * backslashes, or in that of RFC 4180.
 */
public record DelimitedDialect(
    char delimiter,
    boolean own,
    boolean hasQuote,
    char quote,
    boolean header,
    boolean quotedIsNull,
    boolean emptyIsNull) {
  /** What the options of a path say. */
  public static DelimitedDialect of(Options options) {
    String quote = options.get("quote", null);
    String empty = options.get("null", "empty");
    boolean hasQuote = quote != null && !quote.equals("off");
    return new DelimitedDialect(
        options.get("delimiter", "|").charAt(0),
        quote == null,
        hasQuote,
        hasQuote ? quote.charAt(0) : 0,
        options.get("header", "no").equals("yes"),
        empty.equals("empty"),
        !empty.equals("never"));
  }
}
