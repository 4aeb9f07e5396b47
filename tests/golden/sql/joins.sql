SELECT COUNT(*) FROM patient p, hospital h WHERE p.hospital = h.id
----
SELECT COUNT(*) FROM patient p JOIN hospital h ON p.hospital = h.id AND h.city = 'Bern'
----
SELECT COUNT(*) FROM patient p CROSS JOIN visit v
----
SELECT COUNT(*) FROM patient JOIN visit USING (hospital)
----
SELECT COUNT(DISTINCT hospital) FROM patient JOIN visit USING (hospital) WHERE patient.hospital > 3
----
SELECT COUNT(*) FROM visit NATURAL JOIN patient
----
SELECT COUNT(*) FROM edge a, edge b, edge c WHERE a.dst = b.src AND b.dst = c.src AND c.dst = a.src
----
SELECT COUNT(DISTINCT (a.src, b.src, c.src)) FROM edge a, edge b, edge c WHERE a.dst = b.src AND b.dst = c.src AND c.dst = a.src AND a.src < b.src AND b.src <> c.src
----
SELECT COUNT(*) FROM patient a JOIN patient b ON a.weight > b.weight + 5 AND a.id <> b.id
----
SELECT COUNT(*) FROM patient a JOIN patient b ON lower(a.name) = lower(b.name)
----
SELECT COUNT(*) FROM patient a JOIN patient b ON NOT (a.weight > b.weight)
----
SELECT COUNT(*) FROM (patient p JOIN hospital h ON p.hospital = h.id) AS j WHERE j.city = 'Bern' AND j.name = 'x'
----
SELECT COUNT(*) FROM public.hospital WHERE public.hospital.city = 'Bern' AND hospital.beds > 5
----
SELECT COUNT(*) FROM patient AS p(a, b) WHERE a = 5 AND sex = b
----
SELECT COUNT(*) FROM edge WHERE src = dst
----
SELECT COUNT(*) FROM visit v JOIN hospital h ON v.hospital = h.id JOIN patient p ON p.id = v.patient WHERE h.beds > 100
----
SELECT COUNT(*) FROM patient p JOIN visit v ON (p.id, p.hospital) = (v.patient, v.hospital)
----
SELECT COUNT(*) FROM patient p JOIN visit v ON p.id = v.cost
----
SELECT COUNT(*) FROM patient p, visit v WHERE p.id IS DISTINCT FROM v.patient
----
SELECT COUNT(*) FROM patient p JOIN visit v ON p.id IS NOT DISTINCT FROM v.patient
----
SELECT COUNT(*) FROM patient p JOIN visit v ON NOT (p.id IS DISTINCT FROM v.patient)
----
SELECT COUNT(*) FROM patient WHERE hospital > 3 AND hospital > 5 AND hospital >= 5 AND hospital < 9.5 AND hospital <= 9 AND hospital < 9.25 AND id > 4 AND id < 9
----
SELECT COUNT(*) FROM patient WHERE hospital > 5 AND hospital <> 3 AND 3 <> hospital AND hospital <> 4
