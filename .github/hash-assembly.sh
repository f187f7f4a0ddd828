#!/usr/bin/env bash
# Prints the SHA-256 of the contents and paths of all files in a folder, and fails if it is not EXPECTED. A link counts as
# the file that it leads to, and a link to a folder is an error.
#
#   .github/hash-assembly.sh FOLDER [EXPECTED]
set -euo pipefail
cd "$1"
sha256=$(find . ! -type d -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -d ' ' -f 1)
echo "$sha256"
[ $# -eq 1 ] || [ "$sha256" = "$2" ]
