"""The `?` placeholders of SQL, and what drivers have instead of them."""


def split_placeholders(sql):
    """The SQL between its `?` placeholders; a `?` inside quotes is no placeholder."""
    parts, quote = [""], ""
    for character in sql:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "?":
            parts.append("")
            continue
        parts[-1] += character
    return parts


def formatted(sql):
    """The SQL with `%s` for its placeholders."""
    return "%s".join(part.replace("%", "%%") for part in split_placeholders(sql))


def numbered(sql, mark):
    """The SQL with the mark and a number, such as `$1`, `$2`, …, for its placeholders."""
    first, *rest = split_placeholders(sql)
    return first + "".join(f"{mark}{number}{part}" for number, part in enumerate(rest, 1))
