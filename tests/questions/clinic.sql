CREATE TABLE ward (code text PRIMARY KEY, name text NOT NULL, beds integer NOT NULL);
CREATE TABLE drug (code text PRIMARY KEY, name text NOT NULL);
CREATE TABLE patient (id integer PRIMARY KEY, sex text NOT NULL CHECK (sex IN ('F', 'M', 'X')), birth date NOT NULL,
    city text, smoker boolean, died date);
CREATE TABLE stay (id integer PRIMARY KEY, patient_id integer NOT NULL REFERENCES patient(id),
    ward text NOT NULL REFERENCES ward(code), admitted date NOT NULL, discharged date, urgent boolean NOT NULL);
CREATE TABLE diagnosis (stay_id integer NOT NULL REFERENCES stay(id), code text NOT NULL, rank integer NOT NULL,
    PRIMARY KEY (stay_id, code));
CREATE TABLE lab (id integer PRIMARY KEY, patient_id integer NOT NULL REFERENCES patient(id),
    test text NOT NULL CHECK (test IN ('crp', 'glucose', 'hba1c', 'ldl')), value numeric(8,2), taken timestamp NOT NULL);
CREATE TABLE prescription (id integer PRIMARY KEY, patient_id integer NOT NULL REFERENCES patient(id),
    drug text NOT NULL REFERENCES drug(code), since date NOT NULL, until date, dose integer NOT NULL);
