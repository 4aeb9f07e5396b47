SELECT COUNT(*) FROM (SELECT * FROM patient WHERE sex = 'F') f WHERE f.weight > 60
----
SELECT COUNT(*) FROM (SELECT DISTINCT hospital FROM visit) d
----
SELECT COUNT(*) FROM (SELECT DISTINCT hospital, cost * 2 AS twice FROM visit) d JOIN hospital h ON h.id = d.hospital WHERE twice > 5
----
SELECT COUNT(*) FROM (SELECT cost FROM visit) a, (SELECT DISTINCT sex FROM patient) b
----
SELECT COUNT(DISTINCT n) FROM (SELECT upper(name) AS n FROM patient) d
----
SELECT COUNT(*) FROM patient p WHERE EXISTS (SELECT 1 FROM visit v WHERE v.patient = p.id AND v.cost > 100)
----
SELECT COUNT(*) FROM patient WHERE hospital IN (SELECT id FROM hospital WHERE city = 'Bern')
----
SELECT COUNT(*) FROM patient WHERE (id, hospital) IN (SELECT patient, hospital FROM visit)
----
SELECT COUNT(*) FROM patient WHERE weight < ANY (SELECT cost FROM visit)
----
SELECT COUNT(*) FROM patient p WHERE EXISTS (SELECT * FROM visit v WHERE EXISTS (SELECT 1 FROM hospital h WHERE h.id = v.hospital AND h.id = p.hospital))
----
WITH f AS (SELECT * FROM patient WHERE sex = 'F'), b AS (SELECT id FROM f WHERE weight > 60) SELECT COUNT(*) FROM f JOIN b ON f.id = b.id
----
WITH d(x) AS (SELECT DISTINCT hospital FROM visit) SELECT COUNT(*) FROM d a, d b WHERE a.x < b.x
----
WITH patient AS (SELECT * FROM visit) SELECT COUNT(*) FROM patient
----
SELECT COUNT(*) FROM patient p JOIN LATERAL (SELECT DISTINCT v.hospital FROM visit v WHERE v.patient = p.id) l ON true
----
SELECT COUNT(*) FROM (SELECT 1 AS one) o, patient WHERE id = one
----
SELECT COUNT(*) FROM (SELECT DISTINCT src FROM edge) e WHERE src IN (SELECT dst FROM edge)
----
SELECT COUNT(*) FROM (SELECT DISTINCT a FROM (SELECT DISTINCT src AS a, dst FROM edge) x) y
----
SELECT COUNT(*) FROM patient p WHERE EXISTS (WITH x AS (SELECT * FROM visit WHERE visit.patient = p.id) SELECT 1 FROM x WHERE x.cost > 5)
----
SELECT COUNT(*) FROM patient WHERE weight IN (SELECT height FROM patient)
----
SELECT COUNT(*) FROM patient p, LATERAL (SELECT v.cost FROM visit v WHERE v.patient = p.id) l
