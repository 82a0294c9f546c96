#!/bin/sh
# Installs Toolroom for this user: downloads the archive of this machine, checks its sum, unpacks the program.
#
#   TOOLROOM_DOWNLOAD_URL   where the archives and SHA256SUMS are (required)
#   TOOLROOM_VERSION        which one [default: the one this installer came with]
#   TOOLROOM_INSTALL_DIR    where to put the program [default: ~/.local/bin]
#
# Nothing else is changed: no sudo, no edit of a shell profile. One function, called on the last line, so that a
# download that breaks off runs nothing.
set -eu

VERSION=${TOOLROOM_VERSION:-@VERSION@}

fail() {
    echo "install: $1" >&2
    exit 1
}

fetch() {
    if command -v curl >/dev/null 2>&1; then
        curl --fail --silent --show-error --location --output "$2" "$1"
    elif command -v wget >/dev/null 2>&1; then
        wget --quiet --output-document "$2" "$1"
    else
        fail "curl or wget is needed"
    fi
}

main() {
    base=${TOOLROOM_DOWNLOAD_URL:-}
    [ -n "$base" ] || fail "set TOOLROOM_DOWNLOAD_URL to the folder with the archives and SHA256SUMS"
    folder=${TOOLROOM_INSTALL_DIR:-$HOME/.local/bin}
    case "$(uname -s)-$(uname -m)" in
        Linux-x86_64) target=x86_64-unknown-linux-gnu ;;
        *) fail "there is no archive for $(uname -s) on $(uname -m); build from source: cargo install --path crates/toolroom" ;;
    esac
    archive="toolroom-$VERSION-$target.tar.gz"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    fetch "$base/SHA256SUMS" "$work/SHA256SUMS" || fail "cannot download $base/SHA256SUMS"
    fetch "$base/$archive" "$work/$archive" || fail "cannot download $base/$archive"
    grep " $archive\$" "$work/SHA256SUMS" >"$work/sum" || fail "SHA256SUMS does not name $archive"
    (cd "$work" && sha256sum --check --status sum) || fail "the sum of $archive is not the one in SHA256SUMS; nothing was installed"
    tar -xzf "$work/$archive" -C "$work"
    mkdir -p "$folder"
    # Renamed into place, so that a running program is never written over.
    cp "$work/toolroom-$VERSION-$target/toolroom" "$folder/.toolroom.new"
    chmod 755 "$folder/.toolroom.new"
    mv "$folder/.toolroom.new" "$folder/toolroom"
    echo "installed $("$folder/toolroom" --version) to $folder/toolroom"
    case ":$PATH:" in
        *":$folder:"*) ;;
        *) echo "add $folder to your PATH to run it by name" ;;
    esac
}

main "$@"
