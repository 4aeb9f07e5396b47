CREATE TABLE country (code text PRIMARY KEY, name text NOT NULL, region text NOT NULL
    CHECK (region IN ('Africa', 'America', 'Asia', 'Europe')));
CREATE TABLE product (id integer PRIMARY KEY, name text NOT NULL, category text NOT NULL
    CHECK (category IN ('book', 'food', 'garden', 'toy')), price numeric(8,2) NOT NULL);
CREATE TABLE customer (id integer PRIMARY KEY, name text NOT NULL, country text NOT NULL REFERENCES country(code),
    segment text CHECK (segment IN ('home', 'office', 'school')), joined date NOT NULL, birth date, email text);
CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer NOT NULL REFERENCES customer(id), ordered date NOT NULL,
    status text NOT NULL CHECK (status IN ('open', 'paid', 'sent', 'back')), channel text NOT NULL
    CHECK (channel IN ('web', 'shop', 'phone')), shipped date);
CREATE TABLE item (order_id integer NOT NULL REFERENCES orders(id), line integer NOT NULL,
    product_id integer NOT NULL REFERENCES product(id), quantity integer NOT NULL, price numeric(8,2) NOT NULL,
    PRIMARY KEY (order_id, line));
CREATE TABLE refund (id integer PRIMARY KEY, order_id integer NOT NULL REFERENCES orders(id), at date NOT NULL,
    amount numeric(8,2) NOT NULL, reason text);
CREATE TABLE visit (id integer PRIMARY KEY, customer_id integer REFERENCES customer(id), at timestamp NOT NULL, page text NOT NULL);
