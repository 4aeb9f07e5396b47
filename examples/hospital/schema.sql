-- The hospital database of Arapinis, Figueira, Gaboardi: Sensitivity of
-- Counting Queries, Example 1.
CREATE TABLE hos (
    id  INTEGER PRIMARY KEY,
    loc TEXT NOT NULL               -- state
);

CREATE TABLE pat (
    id  INTEGER PRIMARY KEY,
    sex TEXT NOT NULL,              -- 'F' or 'M'
    hos INTEGER NOT NULL REFERENCES hos (id)
);

CREATE TABLE doc (
    id        INTEGER PRIMARY KEY,
    specialty TEXT NOT NULL,        -- 'O' is oncology
    hos       INTEGER NOT NULL REFERENCES hos (id)
);

CREATE TABLE patdoc (               -- who attends whom
    pat INTEGER NOT NULL REFERENCES pat (id),
    doc INTEGER NOT NULL REFERENCES doc (id),
    PRIMARY KEY (pat, doc)
);

CREATE TABLE visit (                -- of a year
    id   INTEGER PRIMARY KEY,
    pat  INTEGER NOT NULL REFERENCES pat (id),
    day  INTEGER NOT NULL,          -- 1 to 365
    ward TEXT NOT NULL
);
