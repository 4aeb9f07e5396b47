#!/usr/bin/env python3
"""A made-up question-and-answer site of eight tables, and sixty joins over it, users protected.

    site.py make FOLDER [ROWS]     CSV files, policy.yaml and queries.txt (ROWS in all, a million unless told)
    site.py run FOLDER PROGRAM [S [N ...]]
                                   every join, or those of the numbers N, once: owners, seconds, answer; a line each, a summary at
                                   the end. With S, a join that needs more than S seconds of CPU fails like one that is refused

One user cast one vote in a hundred. Everything a user wrote is theirs, and so is what others wrote below their posts: a
comment belongs to its author and to the post's author, so that results have up to five owners.
"""
import json
import os
import random
import resource
import subprocess
import sys
import time

# table: (columns that lead to users, columns that lead to posts, others), and its share of the rows
TABLES = {"users": 40, "posts": 150, "comments": 250, "votes": 300, "badges": 60, "links": 20, "tags": 30, "history": 150}
POLICY = """entities: [users]
tables:
  users: {columns: {id: integer, reputation: integer}, key: [id]}
  posts: {columns: {id: integer, owner: integer, kind: integer}, key: [id], not_null: [owner], owned_by: [{via: [owner], table: users}]}
  comments: {columns: {id: integer, post: integer, author: integer, score: integer}, key: [id], not_null: [post, author],
             owned_by: [{via: [post], table: posts}, {via: [author], table: users}]}
  votes: {columns: {id: integer, post: integer, voter: integer, kind: integer}, key: [id], not_null: [post, voter],
          owned_by: [{via: [post], table: posts}, {via: [voter], table: users}]}
  badges: {columns: {id: integer, holder: integer, kind: integer}, key: [id], not_null: [holder], owned_by: [{via: [holder], table: users}]}
  links: {columns: {id: integer, post: integer, other: integer}, key: [id], not_null: [post, other],
          owned_by: [{via: [post], table: posts}, {via: [other], table: posts}]}
  tags: {columns: {id: integer, post: integer, name: integer}, key: [id], not_null: [post], owned_by: [{via: [post], table: posts}]}
  history: {columns: {id: integer, post: integer, editor: integer, kind: integer}, key: [id], not_null: [post, editor],
            owned_by: [{via: [post], table: posts}, {via: [editor], table: users}]}
"""
USER = {"posts": "owner", "comments": "author", "votes": "voter", "badges": "holder", "history": "editor"}


def skewed(rng, n, power):
    """1 .. n, small numbers far more often."""
    return min(n, 1 + int(n * rng.random() ** power))


def make(folder, rows):
    rng = random.Random(17)
    n = {t: max(2, rows * share // 1000) for t, share in TABLES.items()}
    os.makedirs(os.path.join(folder, "data"), exist_ok=True)

    def table(name, head, line):
        with open(os.path.join(folder, "data", name + ".csv"), "w", encoding="ascii") as f:
            f.write(head + "\n")
            f.writelines(",".join(map(str, line(i))) + "\n" for i in range(1, n[name] + 1))

    def user(power=2):
        return skewed(rng, n["users"], power)

    def post():
        return skewed(rng, n["posts"], 2)

    table("users", "id,reputation", lambda i: (i, skewed(rng, 100000, 6)))
    table("posts", "id,owner,kind", lambda i: (i, user(), 1 + (rng.random() < .6)))
    table("comments", "id,post,author,score", lambda i: (i, post(), user(), skewed(rng, 30, 5)))
    table("votes", "id,post,voter,kind", lambda i: (i, post(), 7 if i % 100 == 0 else user(1.5), 1 + i % 5))
    table("badges", "id,holder,kind", lambda i: (i, user(), rng.randrange(1, 90)))
    table("links", "id,post,other", lambda i: (i, post(), post()))
    table("tags", "id,post,name", lambda i: (i, post(), skewed(rng, 500, 3)))
    table("history", "id,post,editor,kind", lambda i: (i, post(), user(), 1 + i % 12))
    with open(os.path.join(folder, "policy.yaml"), "w", encoding="ascii") as f:
        f.write(POLICY)
    with open(os.path.join(folder, "queries.txt"), "w", encoding="ascii") as f:
        f.writelines(q + "\n" for q in queries())


def owners(atoms, same):
    """How many users a result can belong to: classes of users that posts, authors and holders lead to."""
    of = set()
    for i, (t, post) in enumerate(atoms):
        if t in USER:
            of.add(same.get(("user", i), ("user", i)))
        elif t == "users":
            of.add(same.get(("self", i), ("self", i)))
        if t == "links":
            of |= {("post", post), ("other", i)}
        elif t not in ("users", "badges", "posts"):
            of.add(("post", post))
    return len(of)


def queries():
    """Sixty joins of two to seven tables: walks along the keys, each with up to five owners."""
    rng = random.Random(3)
    out = []
    while len(out) < 60:
        size = 2 + len(out) % 6
        q = walk(rng, size)
        if q and q not in out:
            out.append(q)
    return out


def walk(rng, size):
    """Atoms around posts and users, as SQL; None where a result would have more than five owners."""
    names, where, posts, people = [], [], [], []
    start = rng.choice(["posts", "comments", "votes"])
    classes = set()

    def add(table, post=None, person=None):
        a = f"t{len(names)}"
        names.append(f"{table} {a}")
        user = USER.get(table)
        if table == "posts":
            key = f"{a}.id"
        elif table in ("users", "badges"):
            key = None
        else:
            key = f"{a}.post"
        if key and post:
            where.append(f"{post[0]} = {key}")
        if key and not post:
            post = (key, f"owner of {key}")
            posts.append(post)
        mine = f"{a}.id" if table == "users" else f"{a}.{user}" if user else None
        if person:
            where.append(f"{person[0]} = {mine}")
            if table == "posts":
                classes.discard(post[1])
                post = (post[0], person[1])
            who = person[1]
        else:
            who = post[1] if table == "posts" else mine
        if mine:
            people.append((mine, who))
            classes.add(who)
        if post:
            classes.add(post[1])
        if table == "links":
            posts.append((f"{a}.other", f"owner of {a}.other"))
            classes.add(f"owner of {a}.other")

    add(start)
    while len(names) < size:
        if rng.random() < .6:
            add(rng.choice(["comments", "votes", "links", "tags", "history"]), post=rng.choice(posts))
        else:
            add(rng.choice(["users", "badges", "users", "comments", "history"]), person=rng.choice(people))
    if rng.random() < .5:
        where.append(rng.choice([f"t0.id % {rng.choice([2, 3, 10])} = 1", f"t{size - 1}.id > 100"]))
    if len(classes) > 5:
        return None
    return f"SELECT COUNT(*) FROM {', '.join(names)} WHERE {' AND '.join(where)}"


def run(folder, program, most, chosen):
    worst, bad = 0.0, 0
    queries_ = open(os.path.join(folder, "queries.txt"), encoding="ascii").read().split("\n")[:-1]
    ledger = os.path.join(folder, "ledger")
    if os.path.exists(ledger):
        for end in ("", ".key", "-wal", "-shm", "-holds"):
            if os.path.exists(ledger + end):
                os.unlink(ledger + end)
    subprocess.run([program, "budget", "init", "--ledger", ledger, "--epsilon", "1000"], check=True, stdout=subprocess.DEVNULL)
    for i, q in enumerate(queries_):
        if chosen and i + 1 not in chosen:
            continue
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
        r = subprocess.run([program, "release", "--db", os.path.join(folder, "data"), "--policy", os.path.join(folder, "policy.yaml"),
                            "--ledger", ledger, "--epsilon", "1", "--format", "json", q], capture_output=True, text=True, check=False)
        after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.time() - start
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        a = json.loads(r.stdout)
        worst = max(worst, cpu)
        if r.returncode or cpu > most:
            bad += 1
            print(i + 1, "refused: " + a["error"]["message"] if r.returncode else f"{cpu:.2f} s of CPU", q, flush=True)
            continue
        k = json.loads(subprocess.run([program, "quote", "--db", os.path.join(folder, "data"), "--policy", os.path.join(folder, "policy.yaml"),
                                       "--epsilon", "1", "--format", "json", q], capture_output=True, text=True, check=True).stdout)["entity"]["owners"]
        print(f"{i + 1}\t{k} owners\t{cpu:.2f} s CPU\t{wall:.2f} s\tT {a.get('threshold')}\t{a['answer']}\t{q}", flush=True)
    print(f"{len(chosen) or len(queries_)} joins, {bad} refused or too long, the longest {worst:.2f} s of CPU")
    return bad


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"] and len(sys.argv) > 2:
        make(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1000000)
    elif sys.argv[1:2] == ["run"] and len(sys.argv) >= 4:
        seconds = float(sys.argv[4]) if len(sys.argv) > 4 else float("inf")
        sys.exit(1 if run(sys.argv[2], sys.argv[3], seconds, set(map(int, sys.argv[5:]))) else 0)
    else:
        sys.exit(__doc__)
