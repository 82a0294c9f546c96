//! Messages between the server and the helper: one packet each, a descriptor along with it if needed.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};

use super::plan::Told;

/// A message is a few words and an errno.
const LONGEST: usize = 4096;

/// The two ends of a connection.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC;
    Ok(rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

pub(super) fn send(to: impl AsFd, told: &Told, with: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let text = serde_json::to_vec(told)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let with: Vec<BorrowedFd<'_>> = with.into_iter().collect();
    if !with.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(&with));
    }
    rustix::net::sendmsg(to, &[IoSlice::new(&text)], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The next message, without waiting for it; `None` if the other side is gone.
pub(crate) fn receive(from: impl AsFd) -> io::Result<Option<(Told, Option<OwnedFd>)>> {
    let mut text = vec![0; LONGEST];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let received = rustix::net::recvmsg(from, &mut [IoSliceMut::new(&mut text)], &mut ancillary, flags)?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let mut with = None;
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            with = descriptors.last();
        }
    }
    let told = serde_json::from_slice(text.get(..received.bytes).unwrap_or_default())?;
    Ok(Some((told, with)))
}
