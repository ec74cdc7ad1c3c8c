#!/usr/bin/env bash
# Makes the pictures of docs/how-to/review-a-change.md from a report: `make report`, then
#
#   tools/report-screenshots.sh out docs/images
#
# Needs chromium and npm. Renders report.md nearly as GitHub does: markdown-it, GitHub's style sheet and Mermaid, all from
# the npm registry. The pages load nothing from a network.
set -euo pipefail

from=$(realpath "$1")
to=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$work"
npm install --silent --no-save --ignore-scripts markdown-it@15.0.3 github-markdown-css@5.9.0 mermaid@11.17.2 >/dev/null
cat >comment.mjs <<'JS'
import { readFileSync, writeFileSync } from "node:fs";
import markdownit from "markdown-it";

const body = markdownit({ html: true })
  .render(readFileSync(process.argv[2], "utf8"))
  .replace(/<pre><code class="language-mermaid">([\s\S]*?)<\/code><\/pre>/g, '<pre class="mermaid">$1</pre>')
  .replace(/<details><summary>(. replace eks|. update helm)/g, "<details open><summary>$1")
  .replace(/(<code class="language-diff">)([\s\S]*?)(<\/code>)/g, (_, start, text, end) =>
    start + text.replace(/^\+.*$/gm, '<span style="background:#dafbe1">$&</span>')
      .replace(/^-.*$/gm, '<span style="background:#ffebe9">$&</span>') + end);
const css = readFileSync("node_modules/github-markdown-css/github-markdown-light.css", "utf8");
writeFileSync("comment.html", `<!doctype html><meta charset="utf-8"><style>${css} body { margin: 0; padding: 24px; }
pre.mermaid { background: none; text-align: center; }</style><article class="markdown-body">${body}</article>
<script src="node_modules/mermaid/dist/mermaid.min.js"></script><script>mermaid.initialize({ startOnLoad: true });</script>`);
JS
node comment.mjs "$from/report.md"

shoot() { # page, picture, width, height, further options
    chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=15000 \
        --allow-file-access-from-files --window-size="$3,$4" "${@:5}" --screenshot="$to/$2" "file://$1" 2>/dev/null
}
shoot "$work/comment.html" report-comment.png 860 1240
shoot "$from/report.html" report-page.png 1000 1240
shoot "$from/report.html" report-page-dark.png 1000 1240 --blink-settings=preferredColorScheme=0
