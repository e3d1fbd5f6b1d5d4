#!/usr/bin/env bash
# Builds the libraries that differ between distributions, to be linked into the program: static-libraries.sh DIRECTORY
#
# Their sources are those of Debian, as apt verifies them: libzip and ISA-L of the system's release, so that they are the
# ones of the headers, and SQLite of a later release (its interface only grows). DIRECTORY/deb and DIRECTORY/dist have what
# pkg-config says of them for the two packages, and DIRECTORY/dist also the C library of an older release, so that the
# program runs with that one and all later ones. The C++ library of that release is linked into the program.
set -euo pipefail

mkdir -p "$1"
directory=$(cd "$1" && pwd)
readonly sqlite_suite=trixie glibc_suite=bullseye gcc=10
# What is in a static library must be the same in any directory.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-1} ZERO_AR_DATE=1
flags="-O2 -fPIC -ffile-prefix-map=$directory=."
# What libzip needs; only later releases of it read zstd.
needed=(bz2 lzma z)

fail() {
    echo "static-libraries: error: $*" >&2
    exit 1
}

rm -f "$directory/lib/complete"
for tool in cmake nasm apt-get dpkg-source; do
    command -v "$tool" >/dev/null || fail "there is no '$tool': apt-get install cmake nasm dpkg-dev"
done
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
mkdir -p "$directory"/{lists,sources,lib}
rm -rf "$directory"/{deb,dist}
mkdir -p "$directory"/deb "$directory"/dist
origin="[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian"
{
    for name in "$suite" "$sqlite_suite"; do echo "deb-src $origin $name main"; done | sort -u
    echo "deb $origin $glibc_suite main"
} >"$directory/sources.list"

apt=(apt-get -qq -o Dir::Etc::sourcelist="$directory/sources.list" -o Dir::Etc::sourceparts=-
    -o Dir::State::Lists="$directory/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    -o APT::Sandbox::User=root)
"${apt[@]}" update

# Unpacks the source of a package: fetch NAME SUITE, into sources/NAME.
fetch() {
    rm -rf "$directory/sources/$1" "$directory/download"
    mkdir -p "$directory/download"
    (cd "$directory/download" && "${apt[@]}" source --only-source "$1/$2" >/dev/null)
    mv "$directory"/download/*/ "$directory/sources/$1"
    ls "$directory"/download/*.dsc | sed 's|.*/||; s|\.dsc$||' >>"$directory/lib/versions"
}

: >"$directory/lib/versions"
fetch libzip "$suite"
cmake -S "$directory/sources/libzip" -B "$directory/build/libzip" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS="$flags" -DBUILD_SHARED_LIBS=OFF -DBUILD_TOOLS=OFF -DBUILD_REGRESS=OFF -DBUILD_EXAMPLES=OFF \
    -DBUILD_DOC=OFF -DHAVE_ARC4RANDOM=OFF -DENABLE_GNUTLS=OFF -DENABLE_MBEDTLS=OFF -DENABLE_OPENSSL=OFF >/dev/null
cmake --build "$directory/build/libzip" --parallel "$(nproc)" >/dev/null
cp "$directory/build/libzip/lib/libzip.a" "$directory/lib"
if nm "$directory/lib/libzip.a" 2>/dev/null | grep ZSTD_ >/dev/null; then needed+=(zstd); fi

fetch libisal "$suite"
make -s -C "$directory/sources/libisal" -f Makefile.unx -j"$(nproc)" CFLAGS_="$flags" lib >/dev/null
cp "$directory/sources/libisal/bin/isa-l.a" "$directory/lib/libisal.a"

fetch sqlite3 "$sqlite_suite"
(cd "$directory/sources/sqlite3" && ./configure --quiet --disable-tcl --disable-shared --disable-readline >/dev/null &&
    make -s sqlite3.c >/dev/null)
# As Debian builds it, as far as it matters here.
cc $flags -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS \
    -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ENABLE_SESSION \
    -DSQLITE_ENABLE_PREUPDATE_HOOK -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_SOUNDEX \
    -DSQLITE_MAX_VARIABLE_NUMBER=250000 -DSQLITE_USE_URI -DSQLITE_ENABLE_LOAD_EXTENSION \
    -DSQLITE_ENABLE_DESERIALIZE -DSQLITE_ENABLE_STMTVTAB -DSQLITE_ENABLE_UPDATE_DELETE_LIMIT -DSQLITE_LIKE_DOESNT_MATCH_BLOBS \
    -I"$directory/sources/sqlite3" -c "$directory/sources/sqlite3/sqlite3.c" -o "$directory/build/sqlite3.o"
rm -f "$directory/lib/libsqlite3.a"
ar rcsD "$directory/lib/libsqlite3.a" "$directory/build/sqlite3.o"

# Static forms of these come with their -dev packages.
for name in "${needed[@]}"; do
    file=$(cc -print-file-name="lib$name.a")
    [ -f "$file" ] || fail "there is no lib$name.a: apt-get install zlib1g-dev libbz2-dev liblzma-dev libzstd-dev"
    cp "$file" "$directory/lib"
done

# Writes a file of pkg-config: describe DIRECTORY NAME FLAGS
describe() { printf 'Name: %s\nDescription: %s\nVersion: 0\nLibs: %s\n' "$2" "$2" "$3" >"$directory/$1/$2.pc"; }

# The package for Debian and Ubuntu has only libzip in it. No file may name the system's directory, which would come first.
cp "$directory/lib/libzip.a" "$directory/deb"
describe deb libzip "-L$directory/deb -lzip ${needed[*]/#/-l}"
describe deb libisal -lisal
describe deb zlib -lz
describe deb sqlite3 -lsqlite3

cp "$directory"/lib/*.a "$directory/dist"
describe dist libzip "-L$directory/dist -lzip ${needed[*]/#/-l}"
describe dist libisal "-L$directory/dist -lisal"
describe dist zlib "-L$directory/dist -lz"
describe dist sqlite3 "-L$directory/dist -lsqlite3 -lm"

# The C library of the oldest release on which the tarball is to run, which only the link sees, and static forms of that
# release's C++ library and of what that one needs of the compiler: later ones call functions of a later C library.
(cd "$directory/download" && "${apt[@]}" download {libc6,libc6-dev,libstdc++-$gcc-dev,libgcc-$gcc-dev}/"$glibc_suite" &&
    for package in ./*.deb; do dpkg-deb -x "$package" glibc; done)
rm -rf "$directory/glibc" && mv "$directory/download/glibc" "$directory/glibc"
triple=$(cc -print-multiarch)
(
    cd "$directory/glibc"
    cp usr/lib/"$triple"/libc_nonshared.a usr/lib/gcc/"$triple/$gcc"/{libstdc++,libgcc_eh}.a "$directory/dist"
    # Only its own start has such a library run the program's constructors.
    objcopy --redefine-sym _start=older_start --keep-global-symbol=older_start usr/lib/"$triple"/Scrt1.o "$directory/dist/start.o"
    for name in ld-linux-*.so libc.so libdl.so libm.so libpthread.so librt.so libutil.so; do
        cp -L "$(find lib/"$triple" usr/lib/"$triple" -name "$name.[0-9]" -print -quit)" "$directory/dist"
    done
)
cd "$directory/dist"
for name in dl m pthread rt util; do ln -s "lib$name".so.[0-9] "lib$name.so"; done
echo "GROUP ($PWD/libc.so.6 $PWD/libc_nonshared.a AS_NEEDED ($(echo "$PWD"/ld-linux-*)))" >libc.so
# Swift's runtime calls one function that came later than that C++ library.
echo '#include <new>
namespace std { [[noreturn]] void __throw_bad_array_new_length() { throw bad_array_new_length(); } }' |
    c++ $flags -x c++ -c - -o "$directory/build/later.o"
ar rsD libstdc++.a "$directory/build/later.o"
echo "GROUP ($PWD/libgcc_eh.a)" >libgcc_s.so
touch "$directory/lib/complete"
