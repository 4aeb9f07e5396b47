/* dpcount: differentially private counts over relational data. */
#ifndef DPCOUNT_H
#define DPCOUNT_H
#ifdef __cplusplus
extern "C" {
#endif

#define DPC_API __attribute__((visibility("default")))

/* "0.1.0". Since 0.1. */
DPC_API const char *dpc_version(void);

#ifdef __cplusplus
}
#endif
#endif
