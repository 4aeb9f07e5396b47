-- Example 3: patients of an oncologist of their own hospital, in New York.
--
-- The paper's formula leaves the location as a variable that is neither bound
-- nor free, and binds x_pat although it is free; the sentence before it asks
-- for the state of New York. So the location is a constant here.
--
-- Private doctors make it unbounded: one doctor may attend any number of
-- patients. Private hospitals would do so too, which is the paper's point.
SELECT COUNT(DISTINCT pat.id)
FROM doc, pat, patdoc, hos
WHERE doc.specialty = 'O'
  AND doc.hos = pat.hos
  AND patdoc.pat = pat.id
  AND patdoc.doc = doc.id
  AND hos.id = pat.hos
  AND hos.loc = 'New York';
