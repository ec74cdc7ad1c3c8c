# shellcheck shell=bash
# A machine whose image has the driver.

install_software() { :; }
