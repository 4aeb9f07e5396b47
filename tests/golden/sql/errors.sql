SELECT COUNT(*) FROM nobody
----
SELECT COUNT(*) FROM "Patient"
----
SELECT COUNT(*) FROM other.hospital
----
SELECT COUNT(*) FROM patient WHERE shoe = 5
----
SELECT COUNT(*) FROM patient p WHERE p.shoe = 5
----
SELECT COUNT(*) FROM patient p WHERE patient.id = 5
----
SELECT COUNT(*) FROM patient p, visit v WHERE hospital = 5
----
SELECT COUNT(*) FROM patient, patient
----
SELECT COUNT(*) FROM "Odd Name" WHERE Key = 5
----
SELECT COUNT(*) FROM patient p JOIN visit v ON p.name = v.patient
----
SELECT COUNT(*) FROM patient WHERE name = 5
----
SELECT COUNT(*) FROM patient WHERE id = 'five'
----
SELECT COUNT(*) FROM patient WHERE id = true
----
SELECT COUNT(*) FROM patient WHERE born = 'soon'
----
SELECT COUNT(*) FROM patient WHERE id
----
SELECT COUNT(*) FROM patient WHERE name + 1 = 2
----
SELECT COUNT(*) FROM patient WHERE lower(id) = 'a'
----
SELECT COUNT(*) FROM patient p, hospital h JOIN visit v ON p.id = v.patient
----
SELECT COUNT(*) FROM patient JOIN visit USING (nothing)
----
SELECT COUNT(*) FROM patient WHERE hospital IN (SELECT id, city FROM hospital)
----
SELEC COUNT(*) FROM patient
----
SELECT COUNT(*) FROM patient WHERE 'é' = name AND )
----

----
SELECT COUNT(*) FROM patient WHERE name = 'unfinished
----
SELECT COUNT(*) FROM patient GROUP BY 7
----
WITH a AS (SELECT * FROM patient), a AS (SELECT * FROM visit) SELECT COUNT(*) FROM a
----
SELECT COUNT(*) FROM patient AS p(a, b, c, d, e, f, g, h, i)
----
SELECT COUNT(*) FROM patient p JOIN visit v ON p.id = v.patient JOIN hospital USING (hospital)
----
SELECT COUNT(*) FROM patient WHERE visit.cost > 3
----
SELECT COUNT(*) FROM (SELECT visit.* FROM patient) q
----
SELECT COUNT(*) FROM patient WHERE born >= 1990
----
SELECT sex, name, COUNT(*) FROM patient GROUP BY sex
