/* What rule text cannot say: refusals that help. */
#include "base/err.h"
#include "cq/token.h"

enum status cq_refuse_negation(struct err *err, long at)
{
    err_set(err, E_UNSUPPORTED, "negation is not supported");
    err_at(err, at);
    err_detail(err, "With negation the sensitivity of a counting query is "
                    "not computable.");
    err_hint(err, "Count the positive part and a total, and subtract.");
    return E_UNSUPPORTED;
}

enum status cq_refuse_disjunction(struct err *err, long at)
{
    err_set(err, E_UNSUPPORTED, "disjunction is not supported");
    err_at(err, at);
    err_detail(err, "The analysis covers conjunctive queries; in full "
                    "first-order logic the sensitivity of a counting query "
                    "is not computable.");
    err_hint(err, "Count each part by itself, add the answers, and subtract "
                  "the count of what is in both.");
    return E_UNSUPPORTED;
}
