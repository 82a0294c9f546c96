//! Our own word, signed: `private_key_jwt` of RFC 7523.

use std::fmt;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::Timestamp;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::json;

/// How long an assertion is good.
const LIFE: Duration = Duration::from_secs(120);

/// A private key.
pub(crate) enum Key {
    Es256(Box<EcdsaKeyPair>),
    Rs256(Box<RsaKeyPair>),
}

impl Key {
    /// Out of PKCS #8 in PEM: a P-256 or an RSA key.
    pub(crate) fn read(pem: &str) -> Result<Self, String> {
        let lines = pem.lines().map(str::trim).filter(|line| !line.starts_with("-----"));
        let body: String = lines.collect();
        let der = STANDARD.decode(body).map_err(|_| "is not a private key in PEM".to_owned())?;
        let random = SystemRandom::new();
        if let Ok(key) = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &der, &random) {
            return Ok(Self::Es256(Box::new(key)));
        }
        let rsa = RsaKeyPair::from_pkcs8(&der);
        rsa.map(|key| Self::Rs256(Box::new(key)))
            .map_err(|_| "must be a P-256 or RSA key, in PEM, as PKCS #8".to_owned())
    }

    fn algorithm(&self) -> &'static str {
        match self {
            Self::Es256(_) => "ES256",
            Self::Rs256(_) => "RS256",
        }
    }

    fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let random = SystemRandom::new();
        match self {
            Self::Es256(key) => Some(key.sign(&random, message).ok()?.as_ref().to_vec()),
            Self::Rs256(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).ok()?;
                Some(signature)
            }
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}

/// A token that says that we are this client, for that authorization server, good for a moment and once.
pub(crate) fn sign(key: &Key, client_id: &str, audience: &str) -> Result<String, String> {
    let now = Timestamp::now();
    let header = json!({ "alg": key.algorithm(), "typ": "JWT" });
    let claims = json!({
        "iss": client_id,
        "sub": client_id,
        "aud": audience,
        "jti": random_text()?,
        "iat": now.as_second(),
        "exp": (now + LIFE).as_second(),
    });
    let part = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", part(header), part(claims));
    let signature = key.sign(message.as_bytes()).ok_or("its private key cannot sign")?;
    Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// 256 bits that nobody can guess.
pub(crate) fn random_text() -> Result<String, String> {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).map_err(|_| "this machine provides no random numbers".to_owned())?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use ring::rand::SystemRandom;
    use ring::signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, UnparsedPublicKey,
    };
    use serde_json::Value;

    use super::{Key, sign};

    #[test]
    fn an_assertion_is_signed_with_the_key_and_good_for_a_moment() {
        let random = SystemRandom::new();
        let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pem = format!(
            "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
            STANDARD.encode(der.as_ref())
        );
        let key = Key::read(&pem).unwrap();
        assert_eq!(format!("{key:?}"), "[key]");
        let Key::Es256(pair) = &key else { panic!("another kind of key") };
        let token = sign(&key, "me", "https://auth.example").unwrap();
        let (message, signature) = token.rsplit_once('.').unwrap();
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref());
        public.verify(message.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
        let claims = URL_SAFE_NO_PAD.decode(message.split('.').nth(1).unwrap()).unwrap();
        let claims: Value = serde_json::from_slice(&claims).unwrap();
        assert_eq!((&claims["iss"], &claims["sub"]), (&Value::from("me"), &Value::from("me")));
        assert_eq!(claims["aud"], "https://auth.example");
        assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 120);
        assert_ne!(token, sign(&key, "me", "https://auth.example").unwrap());
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "not base64!"] {
            assert!(Key::read(text).is_err(), "{text}");
        }
    }
}
