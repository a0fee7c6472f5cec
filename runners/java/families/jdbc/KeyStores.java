package rowpath.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.UUID;
import rowpath.Failure;

/** PEM files as the key stores that drivers take: files of the JVM's temporary directory. */
public final class KeyStores {
  /** What encrypts the stores; of this process only. */
  public static final String PASSWORD = UUID.randomUUID().toString();

  private KeyStores() {}

  /** A store of the authorities in a PEM file; a {@link Failure} where there are none. */
  public static Path ofAuthorities(String file) {
    return stored(
        store -> {
          for (Certificate authority : certificates(file)) {
            store.setCertificateEntry("authority" + store.size(), authority);
          }
        });
  }

  /** A store of a certificate, those that it rests on, and its key in PKCS#8. */
  public static Path ofClient(String certificate, String key) {
    return stored(
        store -> {
          Certificate[] chain = certificates(certificate).toArray(Certificate[]::new);
          PrivateKey own = key(Path.of(key), algorithm(certificate));
          store.setKeyEntry("client", own, PASSWORD.toCharArray(), chain);
        });
  }

  /** The algorithm of a certificate's key; a {@link Failure} where the PEM file has none. */
  public static String algorithm(String certificate) {
    try {
      return certificates(certificate).iterator().next().getPublicKey().getAlgorithm();
    } catch (IOException | GeneralSecurityException error) {
      throw new Failure("connect", "", error.toString());
    }
  }

  private interface Filling {
    void fill(KeyStore store) throws IOException, GeneralSecurityException;
  }

  private static Path stored(Filling filling) {
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      filling.fill(store);
      Path file = Files.createTempFile("rowpath", ".p12"); // 0600
      file.toFile().deleteOnExit();
      try (OutputStream out = Files.newOutputStream(file)) {
        store.store(out, PASSWORD.toCharArray());
      }
      return file;
    } catch (IOException | GeneralSecurityException error) {
      throw new Failure("connect", "", error.toString());
    }
  }

  private static Collection<? extends Certificate> certificates(String file)
      throws IOException, GeneralSecurityException {
    try (InputStream in = Files.newInputStream(Path.of(file))) {
      Collection<? extends Certificate> found =
          CertificateFactory.getInstance("X.509").generateCertificates(in);
      if (found.isEmpty()) {
        throw new GeneralSecurityException("no certificate in " + file);
      }
      return found;
    }
  }

  private static PrivateKey key(Path file, String algorithm)
      throws IOException, GeneralSecurityException {
    String pem = Files.readString(file);
    if (!pem.contains("-----BEGIN PRIVATE KEY-----")) {
      throw new InvalidKeySpecException("no key in PKCS#8 (BEGIN PRIVATE KEY) in " + file);
    }
    String text = pem.replaceAll("(?s).*BEGIN PRIVATE KEY-----|-----END.*", "");
    byte[] encoded = Base64.getMimeDecoder().decode(text);
    return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
  }
}
