# The libraries, each as an imported target dep::NAME.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(jansson REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(sqlite REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(pq REQUIRED IMPORTED_TARGET libpq)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(microhttpd REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(openssl REQUIRED IMPORTED_TARGET openssl)
pkg_check_modules(seccomp REQUIRED IMPORTED_TARGET libseccomp)

# Debian gives these no .pc file (or none that is complete).
function(dpc_library name header lib)
  find_path(${name}_INCLUDE ${header} REQUIRED)
  find_library(${name}_LIB ${lib} REQUIRED)
  add_library(dep::${name} UNKNOWN IMPORTED)
  set_target_properties(dep::${name} PROPERTIES
    IMPORTED_LOCATION ${${name}_LIB}
    INTERFACE_INCLUDE_DIRECTORIES ${${name}_INCLUDE})
endfunction()
dpc_library(gmp gmp.h gmp)
dpc_library(mpfr mpfr.h mpfr)
dpc_library(glpk glpk.h glpk)
# Static: the shared one exports PostgreSQL's own names (palloc, errstart).
dpc_library(pgquery pg_query.h libpg_query.a)
