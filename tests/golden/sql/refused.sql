SELECT COUNT(*) FROM patient p LEFT JOIN visit v ON p.id = v.patient
----
SELECT COUNT(*) FROM patient p WHERE NOT EXISTS (SELECT 1 FROM visit v WHERE v.patient = p.id)
----
SELECT COUNT(*) FROM patient p WHERE id NOT IN (SELECT patient FROM visit)
----
SELECT COUNT(*) FROM patient p WHERE weight > ALL (SELECT cost FROM visit)
----
SELECT COUNT(*) FROM patient p WHERE weight > (SELECT cost FROM visit)
----
SELECT COUNT(*) FROM patient p WHERE sex = 'F' OR EXISTS (SELECT 1 FROM visit v)
----
SELECT COUNT(*) FROM patient UNION SELECT COUNT(*) FROM visit
----
SELECT COUNT(*) FROM (SELECT id FROM patient EXCEPT SELECT patient FROM visit) x
----
SELECT COUNT(*) FROM (SELECT id FROM patient INTERSECT SELECT patient FROM visit) x
----
SELECT COUNT(*) OVER () FROM patient
----
SELECT COUNT(*) FROM (SELECT id FROM patient LIMIT 1) q
----
SELECT COUNT(*) FROM (SELECT id FROM patient ORDER BY id) q
----
SELECT COUNT(*) FROM patient FETCH FIRST 1 ROWS WITH TIES
----
SELECT SUM(weight) FROM patient
----
SELECT COUNT(*), AVG(weight) FROM patient
----
SELECT COUNT(*) FROM (SELECT COUNT(*) FROM patient) x
----
SELECT COUNT(*) FROM patient p WHERE EXISTS (SELECT COUNT(*) FROM visit)
----
SELECT COUNT(*) FROM (SELECT sex FROM patient GROUP BY sex) x
----
SELECT COUNT(*) FROM patient GROUP BY ROLLUP (sex)
----
SELECT COUNT(*) + SUM(weight) FROM patient
----
SELECT sex, COUNT(*) FROM patient
----
SELECT name FROM patient
----
SELECT DISTINCT COUNT(*) FROM patient
----
SELECT COUNT(*) FROM (SELECT DISTINCT ON (sex) sex, name FROM patient) x
----
SELECT COUNT(*)
----
DELETE FROM patient
----
WITH d AS (DELETE FROM patient RETURNING *) SELECT COUNT(*) FROM d
----
CREATE TABLE x (a int)
----
SELECT COUNT(*) FROM patient; SELECT COUNT(*) FROM visit
----
WITH RECURSIVE r AS (SELECT 1) SELECT COUNT(*) FROM r
----
SELECT COUNT(*) FROM (VALUES (1), (2)) v
----
SELECT COUNT(*) FROM generate_series(1, 10)
----
SELECT COUNT(*) FROM patient TABLESAMPLE SYSTEM (10)
----
SELECT COUNT(*) FROM ONLY patient
----
SELECT COUNT(*) INTO x FROM patient
----
SELECT COUNT(*) FROM patient FOR UPDATE
----
SELECT COUNT(*) FROM patient p, visit v WHERE p.id = v.patient OR p.hospital = v.hospital
----
SELECT COUNT(*) FROM patient p, visit v WHERE p.id + v.patient = 5
----
SELECT COUNT(*) FROM patient WHERE random() < 0.5
----
SELECT COUNT(*) FROM patient WHERE born < CURRENT_TIMESTAMP
----
SELECT COUNT(*) FROM patient WHERE name::int = 5
----
SELECT COUNT(*) FROM patient WHERE 10 / id = 5
----
SELECT COUNT(*) FROM patient WHERE weight / 2 > 30
----
SELECT COUNT(*) FROM patient WHERE id / 2.0 > 30
----
SELECT COUNT(*) FROM patient WHERE id::numeric / 2 > 30
----
SELECT COUNT(*) FROM patient WHERE (id * 1e0) % 2 = 1
----
SELECT COUNT(*) FROM patient WHERE substring(name, 1, id) = 'a'
----
SELECT COUNT(*) FROM patient WHERE name LIKE sex
----
SELECT COUNT(*) FROM patient WHERE name LIKE 'a\'
----
SELECT COUNT(*) FROM patient WHERE name ~ '(a)\1'
----
SELECT COUNT(*) FROM patient WHERE name = 'a' COLLATE "C"
----
SELECT COUNT(*) FROM patient WHERE weight + INTERVAL '1 day' > born
----
SELECT COUNT(*) FROM patient WHERE md5(name) = 'a'
----
SELECT COUNT(*) FROM patient WHERE id & 1 = 1
----
SELECT COUNT(*) FROM patient WHERE ARRAY[id] = ARRAY[1]
----
SELECT COUNT(id ORDER BY name) FROM patient
----
SELECT COUNT(id, name) FROM patient
----
SELECT COUNT(*) FROM patient JOIN visit USING (hospital) AS u
----
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(kappa=1) COUNT(*) FROM patient
----
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=-1) COUNT(*) FROM patient
----
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1 COUNT(*) FROM patient
----
SELECT COUNT(patient) FROM patient
----
SELECT COUNT(*) FROM patient WHERE patient IS NOT NULL
----
SELECT COUNT(*) FROM patient p JOIN visit v ON p.hospital IS NOT DISTINCT FROM v.hospital
----
SELECT COUNT(*) FROM patient WHERE born + INTERVAL '1 moon' < DATE '2024-01-01'
----
SELECT COUNT(*) FROM patient WHERE id IN (SELECT patient FROM visit GROUP BY patient HAVING COUNT(*) > 1)
----
SELECT COUNT(*) FROM patient WHERE name::char(3) = 'Ann'
