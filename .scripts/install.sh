#!/bin/sh
# Copies pipeline, from the folder that this script was unpacked in, into a folder of your own: ~/.local, or the one
# that is named.
#
#   sh install.sh [PREFIX]
#
# It asks nobody for rights and changes nothing else. The programs run from the unpacked folder as well.
set -eu

[ $# -le 1 ] || { echo "usage: sh install.sh [PREFIX]" >&2; exit 64; }
prefix=${1:-${HOME:?HOME is not set: name a folder}/.local}
source=$(cd "$(dirname "$0")" && pwd)
[ -x "$source/bin/pipeline" ] || { echo "install.sh: $source has no bin/pipeline; run it in the unpacked folder" >&2; exit 1; }
if ! "$source/bin/pipeline" --version >/dev/null; then
    echo "install.sh: the program does not run here; the libraries that it needs are those of the Debian packages" >&2
    echo "libcurl4 libsqlite3-0 zlib1g libarchive13 libssl3, or their like" >&2
    exit 1
fi
case $("$source/bin/pipeline" --version) in
*"libcurl ?"*) echo "install.sh: jobs need libcurl, which is not there: install libcurl4, or its like" >&2 ;;
esac
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
[ "$prefix" != "$source" ] || { echo "install.sh: that is the folder it is in" >&2; exit 1; }

mkdir -p "$prefix/bin" "$prefix/share"
# Beside and renamed: a program that runs is not written over.
for program in pipeline pipeline-daemon; do
    cp "$source/bin/$program" "$prefix/bin/.$program.new"
    mv "$prefix/bin/.$program.new" "$prefix/bin/$program"
done
cp -R "$source/share/." "$prefix/share"
escaped=$(printf %s "$prefix" | sed 's/[&|\\]/\\&/g')
for unit in "$source"/share/systemd/user/*; do
    sed "s|/@PREFIX@|$escaped|g" "$unit" >"$prefix/share/systemd/user/$(basename "$unit")"
done

echo "pipeline is in $prefix/bin, its documentation in $prefix/share/doc/pipeline/index.md"
case :$PATH: in *:"$prefix/bin":*) ;; *) echo "add it to the path: export PATH=$prefix/bin:\$PATH" ;; esac
