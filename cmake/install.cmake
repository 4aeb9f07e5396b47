# What `cmake --install` puts where: the program, the library with its soname,
# the public header, a pkg-config file, the manual pages.
install(TARGETS dpcount
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET dpcount_cli)
  install(TARGETS dpcount_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${PROJECT_BINARY_DIR}/cli/completion.bash RENAME dpcount
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions)
  install(FILES ${PROJECT_BINARY_DIR}/cli/completion.zsh RENAME _dpcount
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions)
endif()

# Relative, so that the installed tree can be moved.
file(RELATIVE_PATH DPC_PC_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/dpcount.pc.in dpcount.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/dpcount.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

file(GLOB manual CONFIGURE_DEPENDS docs/man/*.1)
install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# What people read, the licence, and the example of the tour.
set(doc ${CMAKE_INSTALL_DATAROOTDIR}/doc/dpcount)
install(FILES README.md CHANGELOG.md DESTINATION ${doc})
install(FILES LICENSE DESTINATION ${doc} RENAME copyright)
install(DIRECTORY docs/ DESTINATION ${doc}/docs
  PATTERN man EXCLUDE PATTERN evidence EXCLUDE)
if(TARGET hospital)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/examples/ DESTINATION ${doc}/examples
    FILES_MATCHING PATTERN *.sql PATTERN *.yaml PATTERN *.db
    PATTERN CMakeFiles EXCLUDE)
endif()
# Debian's Python finds it there; elsewhere tools/python-wheel makes a wheel.
set(DPC_PYTHON_DIR lib/python3/dist-packages CACHE STRING
  "where the Python package goes; empty: nowhere")
if(DPC_PYTHON_DIR)
  install(DIRECTORY python/dpcount DESTINATION ${DPC_PYTHON_DIR}
    FILES_MATCHING PATTERN *.py PATTERN py.typed)
endif()
# The service: its unit (not enabled), its user.
install(FILES packaging/systemd/dpcount.service packaging/systemd/dpcount.socket
  DESTINATION lib/systemd/system)
install(FILES packaging/systemd/dpcount.conf DESTINATION lib/sysusers.d)
include(cmake/package.cmake)
