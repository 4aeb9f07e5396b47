/*
 * One table of values on which functions go different ways or fail (ends of
 * ranges, NaN, infinite dates, letters beyond ASCII), and conditions on its
 * rows: whoever evaluates them must agree row by row.
 */
#ifndef HARNESS_ODD_ROWS_H
#define HARNESS_ODD_ROWS_H

static const char odd_rows[] =
    "CREATE TABLE odd(id int PRIMARY KEY, i bigint, j bigint, d numeric,"
    " f float8, t text, x date, y timestamp, m time, b boolean, u uuid);"
    "INSERT INTO odd VALUES "
    "(1, 9223372036854775807, 0, 'NaN', 'NaN', '\u00c4bC\u00df \u0130',"
    " 'infinity', 'infinity', '24:00', true,"
    " 'ABCDEF00-0000-4000-8000-000000000001'),"
    "(2, -9223372036854775808, -1, 'Infinity', 'Infinity', '',"
    " '-infinity', '-infinity', '00:00', false,"
    " '00000000-0000-4000-8000-000000000002'),"
    "(3, 7, 2, '-Infinity', '-Infinity', '%_\\', '4713-11-24 BC',"
    " '4713-11-24 00:00 BC', '10:00:00.000001', NULL, NULL),"
    "(4, -7, 2, 1e400, 0, '  aXb  ', '5874897-12-31',"
    " '294246-12-31 23:59:59.999999', '23:59:59.999999', true, NULL),"
    "(5, -7, -2, 1e-400, '-0', 'xyxy', '0001-01-01 BC', '0001-12-31 BC',"
    " NULL, false, NULL),"
    "(6, 1, 9007199254740993, 1.5, 1.5, 'aB!c', '2000-02-29',"
    " '2000-02-29 12:34:56.789', '12:34', true, NULL),"
    "(7, 2, 3, -2.5, -2.5, 'ab', '2020-12-28', '2021-01-03 23:00', '01:02:03',"
    " NULL, NULL),"
    "(8, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),"
    "(9, 0, 1, 0.50, 0.5, 'AB', '1969-12-31', '1969-12-31 23:59:59.999999',"
    " '00:00:00.000001', false, NULL),"
    "(10, 5, 5, 179769313486231570000, 1e308, 'n\u00e9e', '294247-01-11',"
    " '2024-02-29', '12:00', true, NULL),"
    "(11, 9007199254740993, 9223372036854775807, 0.3, 0.3, 'a%b', '2024-01-01',"
    " '2024-06-30 00:00', '06:00', true, NULL),"
    "(12, 40, -9223372036854775808, -1e400, 1e-320, 'a_b', '2023-01-01',"
    " '2023-01-01', '18:30', false, NULL);"
    "INSERT INTO odd(id, d) VALUES (13, 2::numeric ^ 1024 - 2::numeric ^ 970),"
    " (14, 2::numeric ^ 1024 - 2::numeric ^ 970 - 1), (15, 3e-324),"
    " (16, 2.4e-324), (17, -3e400)";

/* Conditions on one row of `odd`. */
static const char *const conditions[] = {
    "i + j > 9223372036854775807",
    "i * j * i = 28 OR i - j < -9223372036854775808 OR -i > 5",
    "abs(i) > 9223372036854775807 OR abs(f) > 1e307 OR abs(d) < 1",
    "i % 2 = 1",
    "i % -3 = -1 OR mod(i, 4) = -3",
    "i / 2 = -3 OR i / NULLIF(j, 0) = 3 OR i % NULLIF(j, 0) = -1",
    "i / -1 > 9223372036854775807",
    "d + 1 > 0",
    "d * d >= 0",
    "t || t || t || t || t = 'abababababab' OR t || t || t || t || t = ''",
    "coalesce(d, 0) + 1 > 0",
    "round(d) = 2 OR round(d) = -3 OR round(d, 1) = 0.5",
    "round(f) = 2 OR round(f) = -2 OR floor(f) = -3 OR ceil(f) = 1",
    "floor(d) = -3",
    "ceil(d) = 1",
    "floor(d) IS NULL",
    "d::int = 2",
    "d > f",
    "d = f",
    "d < f",
    "i > f",
    "i::float8 = 9007199254740992",
    "d::float8 = 'Infinity'",
    "d::float8 = '-Infinity'",
    "d::float8 = 0",
    "d::float8 > 0 AND d::float8 < 1e-300",
    "(i + j)::float8 = 9223372036854775808",
    "greatest(d, 1) = least(f, 1)",
    "greatest(i, j) > 5",
    "least(d, i, 3) < 2",
    "least(t, 'b') = 'b'",
    "coalesce(b, true)",
    "coalesce(b, false) = (i > 0)",
    "NULLIF(t, 'ab') IS NULL",
    "CASE WHEN b THEN i WHEN d > 0 THEN j ELSE d END > 1",
    "CASE WHEN b THEN t END = 'aB!c'",
    "CASE WHEN t LIKE 'a%' THEN x ELSE date '2020-12-28' END > '2020-01-01'",
    "lower(t) = 'ab'",
    "lower(t) = '\u00c4bc\u00df \u0130'",
    "upper(t) = 'AB'",
    "upper(t) = 'N\u00e9E'",
    "upper(t) = '\u00c4BC\u00df \u0130'",
    "length(t) = 6 OR length(t) = 3",
    "t || lower(t) = 'abab'",
    "i::text || t = '7%_\\'",
    "i::text = '-9223372036854775808' OR b::text = 'true'",
    "u::text LIKE 'abc%'",
    "substring(t from 2 for 3) = 'yxy'",
    "substr(t, -1, 3) = 'x'",
    "substr(t, 0) = t",
    "substr(t, 2147483648) = ''",
    "substr(t, -9223372036854775808, 5) = ''",
    "substr(t, j, 2) = 'AB'",
    "left(t, 1) = 'a' AND right(t, 1) = 'b'",
    "right(t, 100) = t",
    "trim(t) = 'aXb' OR ltrim(t, 'yx') = '' OR rtrim(t, 'by') = 'a'",
    "btrim(t, '\u0130 \u00c4') = 'bC\u00df'",
    "replace(t, 'xy', 'a') = 'aa' OR replace(t, '', 'a') = 'ab'",
    "position('b' in t) = 2",
    "position('' in t) = 1 OR position('\u00df' in t) = 4",
    "t ILIKE 'AB%'",
    "t ILIKE '\u00e4%' OR t ILIKE '\u00c4B%'",
    "t ILIKE 'AB!!%' ESCAPE '!'",
    "t LIKE 'a!%b' ESCAPE '!'",
    "t LIKE 'a\\_b' OR t LIKE '\\%%' OR t LIKE '%\\\\'",
    "t LIKE 'a_b' ESCAPE ''",
    "x + 30 > DATE '2020-01-01'",
    "x - 5 < DATE '2000-02-25'",
    "i + x > '2020-12-28'",
    "x + j > x",
    "x - j > x",
    "x + 1 > '9999-12-31' OR x - 1 < '0001-01-01'",
    "x + 1 IN (DATE '2000-03-01', DATE '2024-01-02')",
    "x + i IS DISTINCT FROM DATE '2020-12-30'",
    "x - DATE '2000-01-01' > 5",
    "DATE '2000-01-01' - x > 9223372036854775807",
    "extract(year FROM x) > 2000",
    "extract(year FROM x) < 0",
    "extract(month FROM x) = 2 OR extract(day FROM x) = 31",
    "extract(dow FROM x) = 1 OR extract(isodow FROM x) = 7",
    "extract(doy FROM x) > 300 OR extract(quarter FROM x) = 1",
    "extract(week FROM x) = 53",
    "extract(isoyear FROM x) = 2020 OR extract(isoyear FROM x) < 0",
    "extract(month FROM x) IS NULL",
    "extract(epoch FROM x) < 0",
    "extract(epoch FROM y) = -0.000001 OR extract(epoch FROM y) > 1e12",
    "extract(second FROM y) = 56.789 OR extract(second FROM y) = 59.999999",
    "extract(hour FROM y) = 23 OR extract(minute FROM y) = 34",
    "extract(week FROM y) = 53 OR extract(year FROM y) = -1",
    "extract(second FROM m) = 0.000001 OR extract(hour FROM m) = 24",
    "date_trunc('month', y) = '2000-02-01'",
    "date_trunc('year', y) < '0001-01-01'",
    "date_trunc('week', x) = '2020-12-28'",
    "date_trunc('quarter', x) = '2024-01-01' OR date_trunc('day', y) = y",
    "date_trunc('hour', y) = '2000-02-29 12:00'",
    "date_trunc('day', y) > '9999-01-01' OR date_trunc('year', x) > "
    "'9999-01-01'",
    "y::date = '2021-01-03'",
    "y::date = x",
    "y::date > '9999-12-31' OR y::date < '0001-01-01'",
    "y >= x",
    "y < x",
    "x = TIMESTAMP '2024-01-01 00:00'",
};

#endif
