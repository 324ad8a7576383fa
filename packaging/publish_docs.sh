#!/usr/bin/env bash
# Build the documentation of this checkout into a folder that holds those of other versions.
#
#   packaging/publish_docs.sh FOLDER
#
# A tag v1.2.3 is built as 1.2.3, all else as dev. Versions are linked newest first, and the front
# page leads to the newest release. DOCS_FLAGS=RUN=0 does not run the examples.
set -euo pipefail
folder=$1
if [ "${GITHUB_REF_TYPE:-branch}" = tag ]; then version=${GITHUB_REF_NAME#v}; else version=dev; fi
mkdir -p "$folder"
rm -rf "${folder:?}/$version"
releases=$(cd "$folder" && ls -d [0-9]* 2>/dev/null || true)
if [ "$version" != dev ]; then releases="$releases $version"; fi
releases=$(tr ' ' '\n' <<<"$releases" | sort --unique --reverse --version-sort | xargs)
newest=${releases%% *}
ISOSNE_DOCS_VERSIONS="$releases dev" ISOSNE_DOCS_VERSION=$version make docs SITE="$folder/$version" ${DOCS_FLAGS:-}
printf '<!doctype html><meta http-equiv="refresh" content="0; url=%s/">\n' "${newest:-dev}" >"$folder/index.html"
touch "$folder/.nojekyll"
