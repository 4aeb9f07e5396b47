-- How many visits there were in a year. One patient may have any number of them.
SELECT COUNT(*)
FROM visit;
