SELECT COUNT(*) FROM patient WHERE id = 0
----
SELECT COUNT(*) FROM patient WHERE id = -5
----
SELECT COUNT(*) FROM patient WHERE id = - /* five */ (5)
----
SELECT COUNT(*) FROM patient WHERE id = - (- 5) AND hospital = -0
----
SELECT COUNT(*) FROM patient WHERE id IN (0, -1, 2, NULL)
----
SELECT COUNT(*) FROM patient WHERE id = -2147483648 OR id = 9223372036854775808
----
SELECT COUNT(*) FROM patient WHERE sex = 'F' AND weight > 60.5 AND 20 <= id
----
SELECT COUNT(*) FROM patient WHERE sex = NULL
----
SELECT COUNT(*) FROM patient WHERE 1 = 1 AND 'a' < 'b'
----
SELECT COUNT(*) FROM patient WHERE 1 = 2
----
SELECT COUNT(*) FROM patient WHERE insured
----
SELECT COUNT(*) FROM patient WHERE NOT insured
----
SELECT COUNT(*) FROM patient WHERE insured IS NOT TRUE
----
SELECT COUNT(*) FROM patient WHERE sex IS NOT NULL AND born IS NULL
----
SELECT COUNT(*) FROM patient WHERE NOT (sex IS NULL OR weight < 50)
----
SELECT COUNT(*) FROM patient WHERE NOT (sex = 'F' AND weight < 50)
----
SELECT COUNT(*) FROM patient WHERE sex = 'F' OR weight < 50
----
SELECT COUNT(*) FROM patient WHERE weight BETWEEN 50 AND 60
----
SELECT COUNT(*) FROM patient WHERE weight NOT BETWEEN 50 AND 60
----
SELECT COUNT(*) FROM patient WHERE NOT (weight NOT BETWEEN 50 AND 60)
----
SELECT COUNT(*) FROM patient WHERE weight BETWEEN SYMMETRIC 60 AND 50
----
SELECT COUNT(*) FROM patient WHERE name LIKE 'A%' AND name NOT LIKE '%z' AND name ILIKE 'a!%' ESCAPE '!'
----
SELECT COUNT(*) FROM patient WHERE sex IN ('F') AND hospital NOT IN (3) AND id IN (1, 2)
----
SELECT COUNT(*) FROM patient WHERE id = ANY (ARRAY[1, 2])
----
SELECT COUNT(*) FROM patient WHERE (id, sex) IN ((1, 'F'), (2, 'M'))
----
SELECT COUNT(*) FROM patient WHERE (id, sex) = (1, 'F')
----
SELECT COUNT(*) FROM patient WHERE born >= DATE '1990-01-01' AND born < '2000-01-01'
----
SELECT COUNT(*) FROM visit WHERE at >= DATE '2020-01-01' AND at < '2020-01-02 12:00'
----
SELECT COUNT(*) FROM patient, visit WHERE at >= born
----
SELECT COUNT(*) FROM patient WHERE height = 1.8
----
SELECT COUNT(*) FROM patient WHERE height > weight
----
SELECT COUNT(*) FROM patient p, visit v WHERE p.height > v.cost
----
SELECT COUNT(*) FROM patient WHERE CASE WHEN sex = 'F' THEN weight ELSE 70 END > 60
----
SELECT COUNT(*) FROM patient WHERE id % 2 = 1 AND id / 2 > 3 AND id / NULLIF(hospital, 0) = 2
----
SELECT COUNT(*) FROM patient WHERE mod(id, 2) = 0 AND abs(id - hospital) < 5
----
SELECT COUNT(*) FROM patient WHERE upper(trim(name)) = 'BOB' AND length(name || 'x') > 3
----
SELECT COUNT(*) FROM patient WHERE substring(name from 2 for 3) = 'abc' AND left(name, 1) = 'a' AND right(name, 2) = 'yz'
----
SELECT COUNT(*) FROM patient WHERE position('a' in name) > 0 AND coalesce(sex, '?') = '?'
----
SELECT COUNT(*) FROM patient WHERE greatest(weight, 60) = least(height, 2)
----
SELECT COUNT(*) FROM patient WHERE sex IS DISTINCT FROM 'F'
----
SELECT COUNT(*) FROM visit WHERE date_trunc('month', at) = '2020-01-01' AND at::date = '2020-01-05'
----
SELECT COUNT(*) FROM patient WHERE born + 30 > DATE '2020-01-01' AND born - DATE '2000-01-01' > 5
----
SELECT COUNT(*) FROM patient WHERE id = $1 AND sex = $2
----
SELECT COUNT(*) FROM patient WHERE sex = $3
----
SELECT COUNT(*) FROM patient WHERE id = $4
----
SELECT COUNT(*) FROM patient WHERE weight::int = 60 AND id::text = '5' AND id::numeric = 5.0 AND id::float8 = 5
----
SELECT COUNT(*) FROM "Odd Name" WHERE "a b" = 'it''s' AND "Key" > 5 AND code = 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'
----
SELECT COUNT(*) FROM patient WHERE sex = CAST('F' AS VARCHAR(10)) AND id = CAST('7' AS INTEGER)
----
SELECT COUNT(*) FROM patient WHERE sex = 'Female'::varchar(1) AND name = 'Żółć  '::char(5)
----
SELECT COUNT(*) FROM patient WHERE name::varchar(3) = 'Ann' AND id::varchar(1) = '7'
----
SELECT COUNT(*) FROM patient WHERE born > CURRENT_DATE - INTERVAL '1 year 2 months'
----
SELECT COUNT(*) FROM patient WHERE name ~ '^a' AND name !~* 'b+' AND name SIMILAR TO 'a%'
----
SELECT COUNT(*) FROM patient WHERE extract(year FROM age(DATE '2024-01-01', born)) >= 18
----
SELECT COUNT(*) FROM patient WHERE to_char(born, 'YYYY-MM') = '1990-01' AND width_bucket(weight, 0, 100, 2) = 1
