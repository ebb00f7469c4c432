# The caches that --others compares with, each as a reverse proxy. Scripts/cache-tests sources this file.
#
# The configurations follow those of the suite's folder docker, with which its published results were made. Each function
# becomes the program. Its arguments are a port, the port of the suite's server, and an empty folder.

others=(apache2 haproxy nginx squid trafficserver varnish)

# Lets the user as which a program works write into its folder. Root would be the wrong one.
give() {
    [ "$(id -u)" -ne 0 ] || chown -R "$1" "$2"
}

start_apache2() {
    give www-data "$3"
    local name modules=()
    for name in mpm_event authz_core proxy proxy_http cache cache_disk; do
        modules+=("LoadModule ${name}_module /usr/lib/apache2/modules/mod_$name.so")
    done
    {
        printf '%s\n' "${modules[@]}"
        cat <<END
ServerName 127.0.0.1
Listen 127.0.0.1:$1
User www-data
Group www-data
DefaultRuntimeDir $3
PidFile $3/pid
ErrorLog $3/log
ProxyPass / http://127.0.0.1:$2/ ttl=2
CacheEnable disk /
CacheRoot $3
CacheDefaultExpire 0
CacheIgnoreNoLastMod On
CacheStoreExpired On
END
    } >"$3/conf"
    exec apache2 -X -d "$3" -f "$3/conf"
}

start_haproxy() {
    cat >"$3/conf" <<END
defaults
  mode http
  timeout connect 5s
  timeout client 1m
  timeout server 1m
cache responses
  total-max-size 4
  max-object-size 10000
  max-age 240
  process-vary on
  max-secondary-entries 12
frontend clients
  bind 127.0.0.1:$1
  filter cache responses
  http-request cache-use responses
  http-response cache-store responses
  default_backend servers
backend servers
  server server 127.0.0.1:$2
END
    exec haproxy -f "$3/conf"
}

start_nginx() {
    local kind user=
    [ "$(id -u)" -ne 0 ] || user="user root;"
    cat >"$3/conf" <<END
$user
pid $3/pid;
daemon off;
events {}
http {
    access_log off;
$(for kind in client_body proxy fastcgi uwsgi scgi; do echo "    ${kind}_temp_path $3/$kind;"; done)
    proxy_cache_path $3/responses keys_zone=responses:8m;
    server {
        listen 127.0.0.1:$1;
        location / {
            proxy_pass http://127.0.0.1:$2;
            proxy_cache responses;
            proxy_cache_revalidate on;
            proxy_http_version 1.1;
        }
    }
}
END
    exec nginx -p "$3" -c "$3/conf" -e "$3/log"
}

start_squid() {
    give proxy "$3"
    cat >"$3/conf" <<END
http_port 127.0.0.1:$1 accel defaultsite=127.0.0.1 no-vhost
cache_peer 127.0.0.1 parent $2 0 no-query no-digest originserver
http_access allow all
cache_mem 64 MB
pinger_enable off
netdb_filename none
access_log none
cache_log $3/log
pid_filename $3/pid
coredump_dir $3
shutdown_lifetime 1 second
END
    exec squid -N -f "$3/conf"
}

start_trafficserver() {
    local folder
    mkdir "$3/log" "$3/run" "$3/cache"
    cp -r /etc/trafficserver "$3/etc"
    for folder in prefix:. exec_prefix:. localstatedir:. sysconfdir:etc logdir:log runtimedir:run cachedir:cache; do
        echo "${folder%:*}: $3/${folder#*:}"
    done >"$3/runroot.yaml"
    printf '%s\n' "bindir: /usr/bin" "libdir: /usr/lib/trafficserver" >>"$3/runroot.yaml"
    echo "map / http://127.0.0.1:$2/" >"$3/etc/remap.config"
    echo "$3/cache 64M" >"$3/etc/storage.config"
    cat >"$3/etc/records.config" <<END
CONFIG proxy.config.http.server_ports STRING $1:ip-in=127.0.0.1
CONFIG proxy.config.http.cache.required_headers INT 2
CONFIG proxy.config.http.cache.when_to_revalidate INT 0
CONFIG proxy.config.url_remap.pristine_host_hdr INT 1
CONFIG proxy.config.admin.user_id STRING trafficserver
END
    give trafficserver "$3"
    exec env TS_RUNROOT="$3/runroot.yaml" traffic_server
}

start_varnish() {
    exec varnishd -F -j none -n "$3" -a "127.0.0.1:$1" -b "127.0.0.1:$2" -s malloc,64M \
        -p default_ttl=0 -p default_grace=0 -p default_keep=3600
}
