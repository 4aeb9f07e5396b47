/*
 * Commands that charge nothing and draw nothing: what can be said before a row
 * is read, and what the data's owner may see without noise.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "release/release.h"

ask_fn ask_describe, ask_analyze, ask_quote, ask_explain, ask_policy;
ask_fn ask_count, ask_sensitivity, ask_check, ask_calibrate,
    ask_suggest; /* OWNER */

#endif
