/// A self-signed certificate of a client that is good for nothing else.
public enum SampleCertificate {
    /// The certificate.
    public static let pem = """
        -----BEGIN CERTIFICATE-----
        MIIBcTCCARegAwIBAgIUMIzAvXXY+DpBHFfBNhNZQ7qKb98wCgYIKoZIzj0EAwIw
        DjEMMAoGA1UEAwwDYXBwMB4XDTI2MTEyMzAxMjUzMFoXDTM2MTEyMDAxMjUzMFow
        DjEMMAoGA1UEAwwDYXBwMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE+40k08qk
        cO7oLj/bBAa1SLMfcrI1UMnobqZv9S3fUZwjclb02k/DYZDKLG7yXu53sv6PyFzA
        c6WTU+XweESUVKNTMFEwHQYDVR0OBBYEFN+XxA4Fccd0VV41IyCU56T1H9uKMB8G
        A1UdIwQYMBaAFN+XxA4Fccd0VV41IyCU56T1H9uKMA8GA1UdEwEB/wQFMAMBAf8w
        CgYIKoZIzj0EAwIDSAAwRQIhAKkf8EdBNsfW0RY9gXIQwUxFLFXAo/uI5b7L5xxD
        rkCYAiASorNDuX5WqV3pIKbCNCrRwVgO3l4AfJvkF2kXc9e6Xw==
        -----END CERTIFICATE-----

        """
    /// Its private key.
    public static let keyPEM = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7HNbkdK9r9nJfqJd
        FCYZpMnTnue34/A6AonJmh6mHPChRANCAAT7jSTTyqRw7uguP9sEBrVIsx9ysjVQ
        yehupm/1Ld9RnCNyVvTaT8NhkMosbvJe7ney/o/IXMBzpZNT5fB4RJRU
        -----END PRIVATE KEY-----

        """
}
