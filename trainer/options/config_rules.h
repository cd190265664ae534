/* config_rules.h - which options of ggnn-train go together: rows of rules, which config_finish walks once all that follows from
   what was given is worked out.

   `a` and `b` are made of terms:
       name       the option was given on the command line; of a flag: it is set
       name x|y   its value is one of these, whoever says so: command line, checkpoint, default
       name !x|y  it is none of these
       tiers      an option says where graph and features lie
   In `a` they are joined by " & ": the rule is of options that are so, all at once. Its first one is what the sentence is about. In
   `b` they are joined by " or ". */
#ifndef TRAINER_CONFIG_RULES_H
#define TRAINER_CONFIG_RULES_H
#include <stdbool.h>

#include "common/error.h"

typedef enum {
    CONFIG_NEEDS,    /* a needs one of b. "--a x: needs --b y" and `why`, which begins with its comma */
    CONFIG_IDLE,     /* a changes nothing without one of b: "--a x: has no effect without --b y" and `why` */
    CONFIG_EXCLUDES, /* a goes with none of b: "--a x: " and `why`, which names b */
    CONFIG_RULES_END
} config_verb;

typedef struct {
    const char* a;
    config_verb verb;
    const char *b, *why; /* of needs and idle it may be "" */
} config_rule;

extern const config_rule config_rules[]; /* the last one is CONFIG_RULES_END */

typedef struct { /* an option as it is now; all zeros: there is none of that name */
    const char* name;
    const char* origin; /* the checkpoint that it comes with; NULL: none */
    bool on;            /* given on the command line; of a flag: set */
    bool flag;
    char value[256];    /* as the command line has it */
} config_option;

/* Fills `to` with the option of that name, of `of`; of "tiers" with the first that makes a plan of them. */
typedef void config_look(config_option* to, const void* of, const char* name);

/* Tells the first rule that is broken. */
bool config_check_rules(config_look* look, const void* of, error* why);
#endif
