"""The questions of tests/questions, and rows for the two worlds they are about."""
import datetime
import os
import random

FOLDER = os.path.join(os.environ["DPC_SOURCE"], "tests", "questions")
PUBLIC = {"shop": "country,product", "clinic": "ward,drug"}
TABLES = {"shop": ["country", "product", "customer", "orders", "item", "refund", "visit"],
          "clinic": ["ward", "drug", "patient", "stay", "diagnosis", "lab", "prescription"]}


def schema(world):
    return os.path.join(FOLDER, world + ".sql")


def questions():
    """[(world, kind, text)]"""
    with open(os.path.join(FOLDER, "questions.txt"), encoding="utf-8") as f:
        return [tuple(line.rstrip("\n").split("|", 2)) for line in f if not line.startswith("#")]


def day(rng, first=2023, last=2025):
    return datetime.date(first, 1, 1) + datetime.timedelta(rng.randrange(365 * (last - first + 1)))


def shop(rng, n):
    codes = ["DE", "FR", "IT", "KE", "US", "JP"]
    regions = ["Europe", "Europe", "Europe", "Africa", "America", "Asia"]
    rows = {"country": [(c, "Land " + c, r) for c, r in zip(codes, regions)],
            "product": [(i, "thing %d" % i, ["book", "food", "garden", "toy"][i % 4], "%d.50" % i) for i in range(1, 21)],
            "customer": [], "orders": [], "item": [], "refund": [], "visit": []}
    for c in range(1, n + 1):
        rows["customer"].append((c, "name %d" % c, rng.choice(codes), rng.choice(["home", "office", "school", None]), day(rng),
                                 rng.choice([None, day(rng, 1940, 2005)]),
                                 rng.choice([None, "c%d@example.org" % c, "c%d@example.com" % c])))
        for _ in range(rng.choice([0, 0, 1, 2, 3, 7])):
            o, when = len(rows["orders"]) + 1, day(rng)
            rows["orders"].append((o, c, when, rng.choice(["open", "paid", "sent", "back"]), rng.choice(["web", "shop", "phone"]),
                                   rng.choice([None, when + datetime.timedelta(rng.randrange(20))])))
            for line in range(1, rng.choice([2, 3, 5])):
                rows["item"].append((o, line, rng.randrange(1, 21), rng.randrange(1, 30), "%d.%02d" % (rng.randrange(90), rng.randrange(100))))
            if rng.random() < 0.2:
                rows["refund"].append((len(rows["refund"]) + 1, o, day(rng), "%d.00" % rng.randrange(50), rng.choice([None, "broken"])))
    for v in range(n):
        at = datetime.datetime.combine(day(rng), datetime.time(rng.randrange(24), 30))
        rows["visit"].append((v, rng.choice([None, rng.randrange(1, n + 1)]), at, rng.choice(["/", "/product/7", "/product/x"])))
    return rows


def clinic(rng, n):
    rows = {"ward": [("W%d" % i, "ward %d" % i, 10 + i) for i in range(5)],
            "drug": [("D%d" % i, "metformin" if i == 1 else "drug %d" % i) for i in range(8)],
            "patient": [], "stay": [], "diagnosis": [], "lab": [], "prescription": []}
    for p in range(1, n + 1):
        rows["patient"].append((p, rng.choice("FMX"), day(rng, 1930, 2015), rng.choice([None, "Lyon", "Nice"]),
                                rng.choice([None, True, False]), rng.choice([None, None, day(rng)])))
        for _ in range(rng.choice([0, 1, 1, 2])):
            s, when = len(rows["stay"]) + 1, day(rng)
            rows["stay"].append((s, p, "W%d" % rng.randrange(5), when,
                                 rng.choice([None, when + datetime.timedelta(rng.randrange(30))]), rng.random() < 0.3))
            for code in rng.sample(["I10", "E10", "E11", "J45"], rng.randrange(3)):
                rows["diagnosis"].append((s, code, rng.randrange(3)))
        for _ in range(rng.choice([0, 1, 3])):
            at = datetime.datetime.combine(day(rng), datetime.time(rng.randrange(24), 15))
            rows["lab"].append((len(rows["lab"]) + 1, p, rng.choice(["crp", "glucose", "hba1c", "ldl"]),
                                rng.choice([None, "%d.%02d" % (rng.randrange(15), rng.randrange(100))]), at))
        for _ in range(rng.choice([0, 1, 6])):
            since = day(rng)
            rows["prescription"].append((len(rows["prescription"]) + 1, p, "D%d" % rng.randrange(8), since,
                                         rng.choice([None, since + datetime.timedelta(60)]), rng.randrange(1, 900)))
    return rows


def rows_of(world, n=150, seed=1):
    return {"shop": shop, "clinic": clinic}[world](random.Random(seed), n)


def cell(v):
    if v is None:
        return ""
    if isinstance(v, bool):
        return "true" if v else "false"
    return str(v)


def write_csv(world, folder):
    """One file for each table, with a header, as the schema names the columns."""
    heads = {}
    with open(schema(world), encoding="utf-8") as f:
        for statement in f.read().split(";"):
            if "CREATE TABLE" not in statement:
                continue
            name, body = statement.split("CREATE TABLE", 1)[1].split("(", 1)
            depth, cols, at = 0, [], ""
            for ch in body:
                depth += (ch == "(") - (ch == ")")
                if ch == "," and depth == 0:
                    cols.append(at)
                    at = ""
                else:
                    at += ch
            cols.append(at)
            heads[name.strip()] = [c.split()[0] for c in cols if not c.strip().startswith("PRIMARY")]
    os.makedirs(folder, exist_ok=True)
    for table, rows in rows_of(world).items():
        with open(os.path.join(folder, table + ".csv"), "w", encoding="utf-8") as f:
            f.write(",".join(heads[table]) + "\n")
            for r in rows:
                f.write(",".join(cell(v) for v in r) + "\n")
