# `cpack -G DEB` in a build of the preset release makes one Debian package:
# program, library, header, manual, docs, completion, the service's unit. What
# it depends on is read off the program (dpkg-shlibdeps).
set(CPACK_PACKAGE_NAME dpcount)
set(CPACK_PACKAGE_VENDOR dpcount)
set(CPACK_PACKAGE_CONTACT "dpcount maintainers <dpcount@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "differentially private counts over joins of private tables")
set(CPACK_PACKAGE_DESCRIPTION
"Answers SQL counting questions over joins of private tables with noise that
is calibrated to what one row, or one person with all that is theirs, can
change, and keeps a durable ledger of the privacy budget. A program, a C
library, and a service that speaks PostgreSQL's protocol.")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
# and what is loaded when it is first needed
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libpq5, libmicrohttpd12, libedit2")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
file(GLOB scripts ${PROJECT_SOURCE_DIR}/packaging/deb/*)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${scripts})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
