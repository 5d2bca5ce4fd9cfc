# Starts and stops a PostgreSQL server in a folder of its own, in the order of the lines on stdin. When stdin ends,
# because whoever holds it let it go or was killed, the server is stopped and the folder removed.
#
# Arguments: initdb, postgres, the folder, and the server's settings.

# Only the programs write to the owner: a shell that remarks on a signal would itself be ended by the broken pipe.
exec 3>&1 >/dev/null 2>&1
initdb=$1 postgres=$2 folder=$3
shift 3
server= reader=

start() {
    # The pipe ends when the last process of the server has: nobody has to ask for that again and again.
    { cat; echo "watcher: ended"; } <"$folder/log" >&3 &
    reader=$!
    "$postgres" -D "$folder/data" -c "unix_socket_directories=\"$folder\"" "$@" </dev/null >"$folder/log" 2>&1 3>&- &
    server=$!
}

stop() {
    [ -n "$server" ] || return
    for signal; do
        kill -s "$signal" "$server"
    done
    wait "$server"
    server=
}

leave() {
    trap '' HUP INT TERM
    # One of the two ends the server at any moment of its start. Until it has handlers ALRM does: no trap of this shell
    # swallows it in the fork, and QUIT is ignored there. From then on QUIT does.
    stop ALRM QUIT
    # It still waits where the server ended before it opened the pipe.
    [ -z "$reader" ] || kill -s KILL "$reader"
    rm -rf "$folder"
    exit
}

trap leave HUP INT TERM
"$initdb" -D "$folder/data" --username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync </dev/null 2>&3 &&
    mkfifo "$folder/log" 2>&3 || leave
while read -r order; do
    case $order in
        start) stop QUIT; start "$@" ;;
        fast) stop INT ;;
        immediate) stop QUIT ;;
    esac
done
leave
