#!/usr/bin/env bash
# What the action runs: verifies CERTREE_PATHS with CERTREE_ARGUMENTS (words separated by spaces), writes the reports CERTREE_JUNIT
# and CERTREE_SARIF, and shows errors next to the files in a run of GitHub Actions. Exit code as `certree verify`.
set -uo pipefail
read -r -a paths <<<"${CERTREE_PATHS:-.}"
read -r -a arguments <<<"${CERTREE_ARGUMENTS:-}"
rm -f -- "${CERTREE_JUNIT:-certree-junit.xml}" "${CERTREE_SARIF:-certree.sarif}"  # of an earlier run: not to be shown again
certree verify "${paths[@]}" ${arguments[@]+"${arguments[@]}"} \
  --junit "${CERTREE_JUNIT:-certree-junit.xml}" --sarif "${CERTREE_SARIF:-certree.sarif}" --force
code=$?
if [ -n "${GITHUB_ACTIONS:-}" ] && [ -f "${CERTREE_SARIF:-certree.sarif}" ]; then
  python - "${CERTREE_SARIF:-certree.sarif}" <<'PYTHON'
import json
import sys

def escaped(text):
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

for result in json.load(open(sys.argv[1], encoding="utf-8"))["runs"][0]["results"]:
    place = result["locations"][0]["physicalLocation"]
    file, line = place["artifactLocation"]["uri"], place["region"]["startLine"]
    print(f"::error file={escaped(file)},line={line},title={result['ruleId']}::{escaped(result['message']['text'])}")
PYTHON
fi
exit "$code"
