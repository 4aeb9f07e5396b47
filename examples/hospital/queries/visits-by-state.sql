-- Visits by the state of the patient's hospital: a patient is in one group only,
-- so that every group gets the whole price.
SELECT hos.loc, COUNT(*)
FROM visit JOIN pat ON visit.pat = pat.id JOIN hos ON pat.hos = hos.id
GROUP BY hos.loc;
