#!/bin/bash
# Start MariaDB on /var/lib/mysql; on a new volume, make the databases, user and passwords first.
#
# The variables are those of MariaDB's own image: MARIADB_ROOT_PASSWORD, MARIADB_DATABASE,
# MARIADB_USER, MARIADB_PASSWORD, each also as MYSQL_*, and as *_FILE with a path to read.
#
# A new volume carries a mark from before its first file until after its last. With the mark the
# server has never listened, so whatever is there is nobody's data, and is begun anew.
set -euo pipefail

data=/var/lib/mysql
mark=$data/.initialising

setting() {
    local name file
    for name in "MARIADB_$1" "MYSQL_$1"; do
        file=${name}_FILE
        if [ -n "${!name:-}" ]; then
            printf %s "${!name}"
        elif [ -n "${!file:-}" ]; then
            cat "${!file}"
        else
            continue
        fi
        return
    done
}

# Quote for SQL: a text, a name.
text() {
    local escaped=${1//\\/\\\\}
    printf "'%s'" "${escaped//\'/\\\'}"
}
# shellcheck disable=SC2016  # the backticks are SQL's
name() { printf '`%s`' "${1//\`/\`\`}"; }

first_sql() {
    local password database user
    # The server reads this with the grant tables off; only then may users be made.
    echo 'FLUSH PRIVILEGES;'
    password=$(setting ROOT_PASSWORD)
    if [ -n "$password" ]; then
        echo "CREATE USER root@'%' IDENTIFIED BY $(text "$password");"
        echo "GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;"
        echo "ALTER USER root@localhost IDENTIFIED VIA unix_socket" \
            "OR mysql_native_password USING PASSWORD($(text "$password"));"
    fi
    database=$(setting DATABASE)
    [ -z "$database" ] || echo "CREATE DATABASE $(name "$database");"
    user=$(setting USER)
    if [ -n "$user" ]; then
        echo "CREATE USER $(name "$user")@'%' IDENTIFIED BY $(text "$(setting PASSWORD)");"
        [ -z "$database" ] ||
            echo "GRANT ALL ON $(name "${database//_/\\_}").* TO $(name "$user")@'%';"
    fi
}

initialise() {
    echo 'entrypoint: a new volume, making the databases' >&2
    touch "$mark"
    sync "$data"
    # lost+found is the file system's.
    find "$data" -mindepth 1 -maxdepth 1 ! -path "$mark" ! -name lost+found -exec rm -rf {} +
    mariadb-install-db --datadir="$data" --skip-test-db --auth-root-socket-user=mysql >/dev/null
    first_sql | mariadbd --datadir="$data" --bootstrap
    sync
    rm "$mark"
}

strangers=$(find $data -mindepth 1 -maxdepth 1 ! -name lost+found)
if [ -e $mark ] || [ -z "$strangers" ]; then
    initialise
elif [ ! -d $data/mysql ]; then
    echo "entrypoint: $data holds something that is no MariaDB: left alone" >&2
    exit 1
fi
exec mariadbd --datadir=$data "$@"
