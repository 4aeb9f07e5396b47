-- Example 2: oncology doctors who treat female patients in the hospital where
-- they practice.
--
-- With policy-example02.yaml one row of pat can change this count without
-- limit: nothing bounds how many doctors attend one patient.
SELECT COUNT(DISTINCT doc.id)
FROM pat, doc, patdoc
WHERE doc.specialty = 'O'
  AND pat.sex = 'F'
  AND pat.hos = doc.hos
  AND patdoc.pat = pat.id
  AND patdoc.doc = doc.id;
