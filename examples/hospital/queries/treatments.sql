-- Who attends whom, in the hospital where both are: a result belongs to two
-- people, the patient and the doctor.
SELECT COUNT(*)
FROM patdoc JOIN pat ON patdoc.pat = pat.id JOIN doc ON patdoc.doc = doc.id
WHERE pat.hos = doc.hos;
