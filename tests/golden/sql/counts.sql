SELECT COUNT(*) FROM patient
----
SELECT COUNT(*) FROM visit
----
SELECT COUNT(*) FROM edge
----
SELECT COUNT(sex) FROM patient
----
SELECT COUNT(cost) FROM visit
----
SELECT COUNT(DISTINCT sex) FROM patient
----
SELECT COUNT(DISTINCT (sex, born)) FROM patient
----
SELECT COUNT(DISTINCT sex, born) FROM patient
----
SELECT COUNT(1) FROM patient
----
SELECT COUNT(NULL) FROM patient
----
SELECT COUNT(DISTINCT 7) FROM patient
----
SELECT COUNT((sex, born)) FROM patient
----
SELECT COUNT(weight + 1) FROM patient
----
SELECT COUNT(DISTINCT weight * 2) FROM patient
----
SELECT COUNT(*), COUNT(sex) AS known, COUNT(DISTINCT sex) FROM patient
----
SELECT COUNT(*) FILTER (WHERE sex = 'F') FROM patient
----
SELECT sex, COUNT(*) FROM patient GROUP BY sex
----
SELECT COUNT(*), h.city AS town FROM patient p JOIN hospital h ON p.hospital = h.id GROUP BY h.city
----
SELECT extract(year FROM born), COUNT(*) AS n FROM patient GROUP BY 1
----
SELECT extract(year FROM born) AS y, COUNT(DISTINCT sex) FROM patient GROUP BY y
----
SELECT COUNT(*) FROM patient GROUP BY id
----
SELECT COUNT(*) FROM patient WHERE sex = 'F' GROUP BY sex
----
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1.5, delta=1e-6) COUNT(*) FROM patient WHERE weight = 0
----
select /* a comment */ with differential_privacy options (epsilon = .5) count(*) from patient
----
SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM patient
----
WITH p AS (SELECT 1) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta=0) COUNT(*) FROM patient, p
