# What `cmake --install` puts where: the program, the library with its soname,
# the public header, a pkg-config file, the manual pages.
install(TARGETS dpcount
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET dpcount_cli)
  install(TARGETS dpcount_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# Relative, so that the installed tree can be moved.
file(RELATIVE_PATH DPC_PC_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/dpcount.pc.in dpcount.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/dpcount.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

file(GLOB manual CONFIGURE_DEPENDS docs/man/*.1)
install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
