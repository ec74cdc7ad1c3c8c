#!/usr/bin/env bash
# Keeps one issue about a finding: opens it, updates it in place, and closes it when nothing is found any more.
#
#   ops/pipeline/one-issue.sh TITLE FILE     FILE has the text; without the file, nothing was found
#
# It finds the issue by its title and its author, because anyone can open an issue with the same title. The job needs
# `gh`, GH_TOKEN with `issues: write`, and GH_REPO.
set -euo pipefail

export TITLE=$1
text=$2
run="[The last run]($GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID)"

issues=$(gh issue list --limit 10000 --json author,number,title \
  --jq '.[] | select(.author.login == "app/github-actions" and .title == env.TITLE) | .number')
if [ ! -e "$text" ]; then
  for issue in $issues; do
    gh issue close "$issue" --comment "$run found nothing any more."
  done
  exit
fi
printf '\n%s updated this issue. It is closed when nothing is found any more.\n' "$run" >> "$text"
if [ -z "$issues" ]; then
  gh issue create --title "$TITLE" --body-file "$text"
fi
for issue in $issues; do
  gh issue edit "$issue" --body-file "$text"
done
