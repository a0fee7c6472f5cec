"""A table of PostgreSQL whose types, values and names are difficult for a layer."""

from __future__ import annotations

ROWS = 300
TABLE = """
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE "Own" (
    id int, part text, price numeric(12, 4), free numeric, at timestamptz, local timestamp, day date, clock time,
    span interval, tags int[], words text[], doc jsonb, raw bytea, flag boolean, f real, g double precision, u uuid,
    m mood, net inet, "class" text, "Two words" bigint, "save" text, PRIMARY KEY (part, id)
);
INSERT INTO "Own" SELECT
    g, 'p%:a' || g, g * 1.2345, CASE WHEN g % 3 = 0 THEN NULL ELSE g::numeric / 7 END,
    timestamptz '2024-03-31 01:30+02' + g * interval '1 hour 0.123456 s', timestamp '2024-01-01' + g * interval '1 min',
    date '2024-01-01' + g, time '10:00' + g * interval '1 s',
    make_interval(months => g % 5, days => g, secs => 1.5),
    CASE WHEN g % 4 = 0 THEN NULL ELSE ARRAY[g, NULL, 3] END, ARRAY['a:b', 'c"d'],
    jsonb_build_object('a', g, 'b', 1.10),
    '\\x00ff'::bytea, g % 2 = 0, g / 3.0, g / 3.0, md5(g::text)::uuid, 'ok', '10.0.0.1', 'class ' || g,
    g::bigint * 10000000000, NULL
FROM generate_series(1, 300) AS g;
"""
