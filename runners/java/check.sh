#!/bin/sh
# Checks the Java sources: google-java-format, and javac with every warning an error. `check.sh --fix` formats them.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
python=$root/.venv/bin/python
[ -x "$python" ] || python=python3

# Prints the class path of the named pinned artefacts, fetched where needed.
class_path() {
    PYTHONPATH="$root/src" "$python" -c 'import sys; from rowpath.machine import jvm; print(jvm.class_path(sys.argv[1:]))' "$@"
}

java=$(PYTHONPATH="$root/src" "$python" -c 'from rowpath.machine import jvm; print(jvm.java_command())')
formatter=$(class_path google-java-format)
drivers=$(class_path asm jackson-core jackson-jr-objects postgresql duckdb_jdbc spring-jdbc spring-beans spring-core spring-tx \
    commons-logging jspecify jdbi3-core geantyref mybatis jooq r2dbc-spi reactive-streams hibernate-core \
    jakarta.persistence-api jakarta.xml.bind-api byte-buddy HikariCP tomcat-jdbc tomcat-juli commons-dbcp2 \
    commons-pool2 c3p0 mchange-commons-java jt400)
exports=
for package in api code file parser tree util; do
    exports="$exports --add-exports=jdk.compiler/com.sun.tools.javac.$package=ALL-UNNAMED"
done

cd "$here"
sources=$(find core families adapters layers pools tools tests -name '*.java' | sort)
case ${1-} in
    --fix) mode=--replace ;;
    *) mode='--set-exit-if-changed --dry-run' ;;
esac
# The lists are split into words on purpose: no name here holds a blank.
# shellcheck disable=SC2086
"$java" $exports -cp "$formatter" com.google.googlejavaformat.java.Main $mode $sources

classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
# shellcheck disable=SC2086
"$(dirname "$java")/javac" --release 17 -Xlint:all,-classfile -Werror -proc:none -encoding UTF-8 -cp "$drivers" -d "$classes" $sources
