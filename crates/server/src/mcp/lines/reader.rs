//! Lines out of bytes; one that is too long is skipped, not kept.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A line, without its end.
    Whole,
    /// It had more bytes than allowed; they are gone.
    TooLong,
    /// There is nothing more.
    End,
}

/// Appends the next line. May be dropped while it waits, and called again with the same `line`: nothing is lost.
pub async fn next_line<R: AsyncBufRead + Unpin>(
    input: &mut R,
    line: &mut Vec<u8>,
    longest: usize,
) -> io::Result<Line> {
    loop {
        let available = input.fill_buf().await?;
        if available.is_empty() {
            return Ok(match line.len() {
                0 => Line::End,
                length if length > longest => Line::TooLong,
                _ => Line::Whole,
            });
        }
        let (part, ended) = match available.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at, true),
            None => (available.len(), false),
        };
        // One byte more than allowed marks a line that is too long.
        let room = (longest + 1).saturating_sub(line.len());
        line.extend_from_slice(&available[..part.min(room)]);
        input.consume(part + usize::from(ended));
        if ended {
            return Ok(if line.len() > longest { Line::TooLong } else { Line::Whole });
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_and_the_next_one_read() {
        let mut input = BufReader::with_capacity(3, &b"abc\nabcdef\n\nxy"[..]);
        let mut read = Vec::new();
        loop {
            let mut line = Vec::new();
            let kind = next_line(&mut input, &mut line, 4).await.unwrap();
            if kind == Line::End {
                break;
            }
            read.push((kind, String::from_utf8(line).unwrap()));
        }
        let whole = |text: &str| (Line::Whole, text.to_owned());
        assert_eq!(read, [whole("abc"), (Line::TooLong, "abcde".into()), whole(""), whole("xy")]);
    }
}
