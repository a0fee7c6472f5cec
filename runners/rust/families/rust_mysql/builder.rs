/// How to connect, by a driver's own builder: those of both have methods of the same names.
///
/// By default a driver asks a server on this machine for its socket, and goes there. `$tls` has the authorities.
#[macro_export]
macro_rules! rust_mysql_builder {
    ($options:expr, $builder:expr, $host:expr, $tls:expr) => {{
        let [user, password, database] = ["user", "password", "database"].map(|name| $options.need(name).ok());
        let tls = $tls.with_danger_accept_invalid_certs($options.is("tls", "on"));
        let tls = tls.with_danger_skip_domain_validation(!$options.is("tls", "verify-full"));
        let builder = $builder.prefer_socket(false).init(vec![$crate::families::mysql::SESSION]);
        let builder = builder.user(user).pass(password).db_name(database);
        let builder = builder.ssl_opts($options.encrypts().then_some(tls));
        if $options.is("transport", "unix") {
            builder.socket(Some($options.need("socket")?))
        } else {
            builder.ip_or_hostname($host).tcp_port($options.port()?)
        }
    }};
}
