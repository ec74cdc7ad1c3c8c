# shellcheck shell=bash
# Jobs without Docker.

install_docker() { :; }
join_docker() { :; }
clean_docker() { :; }
files_of_containers() { :; }
