-- ping
SELECT 1
-- version-num
SELECT current_setting('server_version_num')::int / 10000
-- constants
SELECT 1 AS a, -1 AS b, 'x' AS c, NULL AS d, true AS e, 1.5 AS f, 'a' || 'b' AS g, 7 / 2 AS h, 7 % 2 AS i
-- names
SELECT current_database(), current_schema(), current_user, session_user, current_schemas(false), current_schemas(true)
-- case-fold
SELECT "relname" AS "RelName", RELKIND FROM PG_CLASS WHERE RELNAME = 'patient'
-- nulls-order
SELECT x FROM (VALUES (1), (NULL), (3)) v(x) ORDER BY x DESC
-- nulls-order-asc
SELECT x FROM (VALUES (1), (NULL), (3)) v(x) ORDER BY x
-- any-null
SELECT 1 = ANY (ARRAY[2, NULL]), 1 = ANY (ARRAY[1, NULL]), 1 <> ALL (ARRAY[2, 3]), NULL = ANY ('{1}'::int[])
-- arrays
SELECT array_upper(ARRAY[5, 6], 1), (ARRAY['a', 'b'])[2], array_length(ARRAY[1, 2, 3], 1), array_to_string(ARRAY['a', NULL, 'c'], ','), cardinality('{}'::text[])
-- text-functions
SELECT upper('aé'), length('aé'), substring('abcdef', 2, 3), left('abc', -1), right('abc', 2), split_part('a.b.c', '.', 2), strpos('abc', 'c'), replace('aXb', 'X', '-'), concat('a', NULL, 1), quote_ident('Odd'), quote_ident('ok')
-- like
SELECT 'a_b' LIKE 'a\_b', 'axb' LIKE 'a\_b', 'ABC' ILIKE 'a%', 'abc' NOT LIKE '%d%', 'a' ~ '[a-c]', 'A' ~* 'a', 'x' !~ 'y'
-- distinct-from
SELECT 1 IS DISTINCT FROM NULL, NULL IS NOT DISTINCT FROM NULL, (1 = 1) IS TRUE, (NULL::bool) IS UNKNOWN
-- case
SELECT CASE WHEN 1 > 2 THEN 'a' WHEN NULL THEN 'b' ELSE 'c' END, coalesce(NULL, 'x'), nullif(1, 1), greatest(1, NULL, 3), least('b', 'a')
-- in-between
SELECT 2 IN (1, 2), 2 NOT IN (1, 3), 2 BETWEEN 1 AND 3, 2 NOT BETWEEN 1 AND 3
-- union
SELECT 1 AS n UNION SELECT 2 UNION ALL SELECT 2 ORDER BY n
-- except
SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace EXCEPT SELECT 'note' ORDER BY 1
-- series
SELECT s.i, s.k FROM generate_series(3, 7, 2) WITH ORDINALITY AS s(i, k)
-- sets-in-step
SELECT unnest(ARRAY[1, 2, 3]) AS a, unnest(ARRAY['x', 'y']) AS b
-- recursive
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4) SELECT sum(i) FROM n
-- with-names
WITH a(x, y) AS (SELECT 1, 'z'), b AS (SELECT x FROM a) SELECT a.y, b.x FROM a JOIN b USING (x)
-- right-join
SELECT a.x, b.x FROM (VALUES (1), (2)) a(x) RIGHT JOIN (VALUES (2), (3)) b(x) ON a.x = b.x ORDER BY 2
-- full-join
SELECT a.x, b.x FROM (VALUES (1), (2)) a(x) FULL JOIN (VALUES (2), (3)) b(x) ON a.x = b.x ORDER BY 1, 2
-- using-star
SELECT * FROM (VALUES (1, 'a')) a(x, y) JOIN (VALUES (1, 'b')) b(x, z) USING (x)
-- window
SELECT attname, row_number() OVER (ORDER BY attnum DESC), count(*) OVER () FROM pg_attribute WHERE attrelid = 'hospital'::regclass AND attnum > 0 ORDER BY attnum
-- filter
SELECT count(*) FILTER (WHERE attnotnull), bool_or(attnotnull), min(attname), max(attnum) FROM pg_attribute WHERE attrelid = 'patient'::regclass AND attnum > 0
-- group-having
SELECT contype, count(*) FROM pg_constraint WHERE connamespace = 2200 GROUP BY contype HAVING count(*) > 1 ORDER BY 1
-- exists
SELECT EXISTS (SELECT 1 FROM pg_class WHERE relname = 'patient'), NOT EXISTS (SELECT FROM pg_class WHERE relname = 'nobody') AS none
-- row-in
SELECT conname FROM pg_constraint WHERE (conrelid, contype) IN (SELECT 'patient'::regclass::oid, 'p'::"char")
-- scalar-subquery
SELECT (SELECT nspname FROM pg_namespace n WHERE n.oid = c.relnamespace) FROM pg_class c WHERE relname = 'visit'
-- regclass
SELECT 'public.patient'::regclass, 'pg_class'::regclass::oid, to_regclass('nobody'), 23::regtype, 'int4'::regtype::oid, 'pg_catalog'::regnamespace
