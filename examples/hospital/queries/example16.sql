-- Example 16: the count of Example 2 where every patient has at most three
-- attending doctors (policy.yaml). One row of any table then changes it by at
-- most 3.
SELECT COUNT(DISTINCT doc.id)
FROM pat, doc, patdoc
WHERE doc.specialty = 'O'
  AND pat.sex = 'F'
  AND pat.hos = doc.hos
  AND patdoc.pat = pat.id
  AND patdoc.doc = doc.id;
