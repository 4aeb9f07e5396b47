/*
 * The answer of a release on its way from the draw to the ledger and the
 * reader: numbers that were paid for, and nothing else.
 */
#ifndef RELEASE_ANSWER_H
#define RELEASE_ANSWER_H

#include "base/json.h"
#include "release/choose.h"
#include "release/group_keys.h"

struct answer {
    str_list numbers; /* decimal texts, one for each group or just one */
    str_list keys;    /* of groups that were found in the data: JSON arrays */
    /* elected, one in all or one for each number: what an entity may
     * contribute, what hints at how much was cut */
    str_list thresholds, lost;
    bool keys_cut; /* there were more, or a text in one was longer */
    bool has_error;
    double p50, p95;    /* display; rounded up */
    bool released;      /* the error was estimated from data and paid for */
    double at_most_p95; /* released: p95 is larger in at most 1 of 20 cases */
    bool repeated;      /* from the ledger, for free */
    struct str receipt;
    struct str as_of; /* when it was held, UTC; empty: not paid */
};

/* A count of a release on its way: what is public about it, then its answer. */
struct released {
    const struct priced *c;
    struct ledger_request request;
    struct answer answer;
    /* Of what is drawn; NULL: nothing is paid (yet), so nothing can be. */
    const struct ledger_hold *hold;
    bool done; /* stored, or no row can change it: not paid, not drawn */
};

/* The form that the ledger keeps: {"answers": [1, 2], "error": [3, 9, true,
 * 30]}, without the last one where the error is public, with "thresholds": [8],
 * and "lost": [3], behind it if they were elected, with "keys": [["F"], ["M"]]
 * behind it if they were found in the data, and "keys_cut": true before that if
 * not all of them are there in full. Reading takes this form only; else
 * E_LEDGER. */
enum status answer_write(struct arena *a, const struct answer *x,
                         struct str *out, struct err *err) WARN_UNUSED;
enum status answer_read(struct arena *a, struct str text, struct answer *out,
                        struct err *err) WARN_UNUSED;

/* A stored key (a JSON array) as n values of these types. */
enum status answer_key_values(struct arena *a, struct str key,
                              const enum type *types, size_t n,
                              struct value *out, struct err *err) WARN_UNUSED;
/* The same for all keys that were found, one after the other. */
enum status release_key_values(const struct released *r,
                               const struct value **out,
                               struct err *err) WARN_UNUSED;

/* Keys that are found are shown up to these limits, in the order of the keys;
 * both are applied to what passed the threshold. */
enum { MAX_FOUND_KEYS = 100000, MAX_KEY_TEXT = 1024 };

/* The public error of a global mechanism. */
void answer_public_error(const struct choice *c, struct answer *out);
/* The error of the noise at the elected threshold, the largest of several. */
enum status answer_elected_error(const struct choice *c, struct answer *out,
                                 struct err *err) WARN_UNUSED;
/* A private estimate of ln S, and from it of the error. PRIVACY: spends
 * c->error_epsilon. `s` is the one that the noise has, smooth for c->beta. */
enum status answer_estimate_error(const struct ledger_hold *hold,
                                  const struct choice *c,
                                  const struct secret_scale *s,
                                  struct entropy *rng, struct answer *out,
                                  struct err *err) WARN_UNUSED;

/* What a release shows of the budget; NULL: no ledger was needed. */
struct budget_view {
    struct ledger_balance balance;
    bool known;
    struct ledger_head head; /* of the event that held it; n 0: none */
    const char *isolation;   /* "process", "none"; NULL: no row was read */
};
/* E_LEDGER: a stored key is malformed. */
enum status report_release(struct prepared *p, const struct released *x,
                           const struct budget_view *budget, struct result *out,
                           struct err *err) WARN_UNUSED;
/* report_wish.c */
void report_wish(struct json *j, struct sb *b, struct prepared *p,
                 const struct priced *c);
void report_quote(struct prepared *p, const struct priced *c,
                  struct result *out);
/* report_entity.c: what is public about entities: unit, owners, static_upper;
 * tables; both as the member "entity", where there are any. */
void answer_entity_head(struct json *j, const struct count *q);
void answer_entity_tables(struct json *j, const struct schema *s);
void answer_entity_json(struct json *j, const struct count *q);
/* And what an election adds to a release, to its i-th group, and a quote. */
void answer_elected_json(struct json *j, const struct choice *c,
                         const struct answer *x);
void answer_elected_group(struct json *j, const struct choice *c,
                          const struct answer *x, size_t i);
void answer_elected_text(struct sb *b, const struct choice *c,
                         const struct answer *x);
void answer_quote_json(struct json *j, const struct choice *c);
void answer_quote_text(struct sb *b, const struct choice *c);
/* An exact number in JSON: a decimal, rounded up if it has no short one. */
void json_rat(struct json *j, mpq_srcptr v, bool up);
/* The key of a group: a JSON array. */
void json_key_values(struct json *j, const struct value *vals, size_t n);
/* SELECT AVG(x) alone: its answer beside the two counts. */
struct answer_table;
void answer_average_json(struct json *j, const struct prepared *p,
                         const struct released *x,
                         const struct answer_table *t);
void text_rat(struct sb *b, mpq_srcptr v, bool up);
/* report_text.c: lines for people. The unit of a sum is its last digit. */
double answer_unit(const struct count *q);
void answer_text_price(struct sb *b, const struct price *p);
void answer_text_public(struct sb *b, const struct count *q,
                        const struct choice *c);
void answer_text_error(struct sb *b, const struct count *q,
                       const struct choice *c, const struct answer *x);
void answer_text_budget(struct sb *b, const struct budget_view *v);
/* 1,234,567.89: a number for people, from its digits or with so many of them
 * behind the point. */
void text_grouped(struct sb *b, struct str digits);
void text_number(struct sb *b, double v, int digits);

#endif
