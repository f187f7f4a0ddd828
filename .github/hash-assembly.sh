#!/usr/bin/env bash
# Prints the SHA-256 of the contents and paths of all files in a folder. A link counts as the
# file that it leads to, and a link to a folder is an error.
set -euo pipefail
cd "$1"
find . ! -type d -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -d ' ' -f 1
