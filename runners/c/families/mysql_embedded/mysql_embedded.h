/* The server inside this process (libmariadbd): started once, by the arguments of the first `open`. */
#ifndef RP_MYSQL_EMBEDDED_H
#define RP_MYSQL_EMBEDDED_H

#include "adapter.h"

/* Once in a process: the library cannot be started a second time. False after rp_fail. */
bool my_start_embedded(const rp_options *options);
void my_end_embedded(void);

extern _Thread_local bool my_attended __attribute__((tls_model("local-exec")));
void my_attend_new_thread(void);

/* A thread is made known to the library before its first call, and forgotten when it ends. Inline: every operation
   begins with it. */
static inline void my_attend_thread(void) {
    if (RP_UNLIKELY(!my_attended)) my_attend_new_thread();
}

#endif
