# The installed package. Filled with the package configuration for consumers.
include(GNUInstallDirs)
