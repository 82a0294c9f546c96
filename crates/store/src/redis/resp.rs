//! The protocol of Redis, RESP2, as far as one script needs it: commands out, replies in, both bounded.

/// What the server answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Text(String),
    Number(i64),
    Numbers(Vec<i64>),
    /// The server's own words.
    Error(String),
}

/// The server speaks something else.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// No reply that we ask for is longer.
pub(super) const LONGEST: usize = 16 * 1024;

/// Appends a command.
pub(super) fn write(buffer: &mut Vec<u8>, words: &[&str]) {
    buffer.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    for word in words {
        buffer.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        buffer.extend_from_slice(word.as_bytes());
        buffer.extend_from_slice(b"\r\n");
    }
}

/// The first reply, and how many bytes it takes; `None` if it is not whole yet.
pub(super) fn read(bytes: &[u8]) -> Result<Option<(Reply, usize)>, Malformed> {
    let Some((kind, line, mut taken)) = line(bytes)? else { return Ok(None) };
    let reply = match kind {
        b'+' => Reply::Text(line.to_owned()),
        b'-' => Reply::Error(line.to_owned()),
        b':' => Reply::Number(number(line)?),
        b'$' => {
            let length = usize::try_from(number(line)?).ok().filter(|length| *length <= LONGEST);
            let end = taken + length.ok_or(Malformed)?;
            let Some(text) = bytes.get(taken..end + 2) else { return Ok(None) };
            let text = text.strip_suffix(b"\r\n").ok_or(Malformed)?;
            taken = end + 2;
            Reply::Text(String::from_utf8_lossy(text).into_owned())
        }
        b'*' => {
            let count = usize::try_from(number(line)?).ok().filter(|count| *count <= 16);
            let mut numbers = Vec::new();
            for _ in 0..count.ok_or(Malformed)? {
                match self::line(&bytes[taken..])? {
                    None => return Ok(None),
                    Some((b':', line, length)) => {
                        numbers.push(number(line)?);
                        taken += length;
                    }
                    Some(_) => return Err(Malformed),
                }
            }
            Reply::Numbers(numbers)
        }
        _ => return Err(Malformed),
    };
    Ok(Some((reply, taken)))
}

/// What a line begins with, the rest of it, and its length with its end.
fn line(bytes: &[u8]) -> Result<Option<(u8, &str, usize)>, Malformed> {
    let Some(end) = bytes.windows(2).position(|pair| pair == b"\r\n") else {
        return if bytes.len() > LONGEST { Err(Malformed) } else { Ok(None) };
    };
    let (kind, text) = bytes[..end].split_first().ok_or(Malformed)?;
    Ok(Some((*kind, std::str::from_utf8(text).map_err(|_| Malformed)?, end + 2)))
}

fn number(text: &str) -> Result<i64, Malformed> {
    text.parse().map_err(|_| Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_however_they_are_cut() {
        for (text, reply) in [
            ("+OK\r\n", Reply::Text("OK".to_owned())),
            ("-NOSCRIPT No matching script.\r\n", Reply::Error("NOSCRIPT No matching script.".to_owned())),
            (":7\r\n", Reply::Number(7)),
            ("$4\r\na\r\nb\r\n", Reply::Text("a\r\nb".to_owned())),
            ("$0\r\n\r\n", Reply::Text(String::new())),
            ("*3\r\n:1\r\n:-2\r\n:3\r\n", Reply::Numbers(vec![1, -2, 3])),
            ("*0\r\n", Reply::Numbers(Vec::new())),
        ] {
            for cut in 0..text.len() {
                assert_eq!(read(&text.as_bytes()[..cut]), Ok(None), "{text:?} cut at {cut}");
            }
            assert_eq!(read(format!("{text}+more").as_bytes()), Ok(Some((reply, text.len()))));
        }
    }

    #[test]
    fn what_is_no_reply_is_refused_before_it_is_kept() {
        let endless = vec![b'x'; LONGEST + 1];
        for text in [
            &b"HTTP/1.1 400 Bad Request\r\n"[..],
            b"\r\n",
            b"$-1\r\n",
            b"$99999999999\r\n",
            b"$18446744073709551615\r\n",
            b"$1\r\nab\r\n",
            b"*9999\r\n",
            b"*1\r\n+text\r\n",
            b":\r\n",
            b"+\xff\r\n",
            &endless,
        ] {
            assert_eq!(read(text), Err(Malformed), "{:?}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn a_command_says_how_long_its_words_are() {
        let mut buffer = Vec::new();
        write(&mut buffer, &["AUTH", "pä\r\n"]);
        assert_eq!(buffer, "*2\r\n$4\r\nAUTH\r\n$5\r\npä\r\n\r\n".as_bytes());
    }
}
