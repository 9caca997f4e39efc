#!/usr/bin/env bash
# publish.sh MODULE DIR: writes a clone of the committed tree to DIR in which the import path is
# MODULE, such as github.com/NAME/ptxlink: one commit more, which has the tags vX.Y.Z of the last one.
# When it is pushed to MODULE, "go install MODULE/cmd/ptxlink@vX.Y.Z" builds that version.
set -euo pipefail
[[ $# == 2 && $1 == */* ]] || { echo 'usage: publish.sh MODULE DIR' >&2; exit 2; }
module=$1
here=$(cd "$(dirname "$0")/../.." && pwd)
old=$(cd "$here" && go list -m)
[[ ! -e $2 ]] || { echo "publish.sh: $2 exists" >&2; exit 2; }
git clone -q --no-tags "$here" "$2"
cd "$2"
tags=$(git -C "$here" tag --points-at HEAD 'v[0-9]*')
tops=$(git ls-files '*.go' | sed -n 's,/.*,,p' | sort -u | paste -sd'|')
# In the code, paths are strings; in the pages they are in backquotes.
git ls-files -z '*.go' | xargs -0 perl -pi -e "s,\"$old/(?=(?:$tops|\\.\\.\\.)[/\"]),\"$module/,g"
git ls-files -z '*.md' ':!CHANGELOG.md' | xargs -0 perl -0pi -e "
	s,The module is not published yet[:;] add \`replace $old => [^\`]*\` to (?:your )?go.mod and\\s+run \`go mod tidy\`\\.,\`go get $module\` adds it to your go.mod.,g;
	s,\`$old/(?=(?:$tops)[/\`]),\`$module/,g; s,go doc $old/,go doc $module/,g"
go mod edit -module "$module"
go mod edit -module "$module/internal/tools" internal/tools/go.mod
gofmt -w $(git diff --name-only -- '*.go')
if grep -rn "replace $old =>" --include='*.md' .; then
	echo "publish.sh: these lines still name $old" >&2
	exit 1
fi
go build -o /dev/null ./...
git -c user.name="$(git -C "$here" config user.name)" -c user.email="$(git -C "$here" config user.email)" commit -qam "Use the import path $module"
for tag in $tags; do
	git tag "$tag"
done
echo "$2: $module${tags:+ $tags}"
