//! A long result as a parcel, for servers that share a database.

use serde::{Deserialize, Serialize};
use toolroom_store::parcels::{self, Kind, Listed, Parcel};
use toolroom_store::{Store, StoreError};

use super::{KEPT, Kept, MOST_BYTES, listed};
use crate::mcp::caller::Owner;
use crate::mcp::sources::{Resource, SourceError};

/// What there is to know of it without reading it.
#[derive(Serialize, Deserialize)]
struct About {
    tool: String,
    json: bool,
    page: usize,
}

/// Every server can read it when this returns. The oldest of a caller that has too many go.
pub(super) async fn put(store: &Store, id: &str, kept: &Kept) -> Result<(), StoreError> {
    let about = About { tool: kept.tool.clone(), json: kept.json, page: kept.page };
    let parcel = Parcel {
        id: id.to_owned(),
        owner: kept.owner.to_string(),
        about: serde_json::to_string(&about).unwrap_or_default(),
        body: kept.text.clone().into_bytes(),
    };
    store
        .write(move |unit| {
            parcels::put(unit, Kind::Result, &parcel, KEPT)?;
            parcels::trim(unit, Kind::Result, &parcel.owner, MOST_BYTES)
        })
        .await
}

/// The owner's own of that id.
pub(super) async fn get(store: &Store, id: &str, owner: Owner) -> Result<Option<Kept>, SourceError> {
    if store.lease().is_none() {
        return Ok(None);
    }
    let id = id.to_owned();
    let found = store.read(move |unit| parcels::get(unit, Kind::Result, &id)).await.map_err(unavailable)?;
    let Some(parcel) = found.filter(|parcel: &Parcel| parcel.owner == owner.to_string()) else {
        return Ok(None);
    };
    let (Ok(About { tool, json, page }), Ok(text)) =
        (serde_json::from_str(&parcel.about), String::from_utf8(parcel.body))
    else {
        return Err(SourceError::Unavailable("a long result is of another form".to_owned()));
    };
    Ok(Some(Kept { owner, tool, text, json, page }))
}

pub(super) async fn list(store: &Store, owner: &Owner) -> Result<Vec<Resource>, SourceError> {
    let owner = owner.to_string();
    let found =
        store.read(move |unit| parcels::list(unit, Kind::Result, &owner)).await.map_err(unavailable)?;
    let resource = |Listed { id, about, length }: Listed| {
        let About { tool, json, .. } = serde_json::from_str(&about).ok()?;
        Some(listed(&id, &tool, json, length))
    };
    Ok(found.into_iter().filter_map(resource).collect())
}

fn unavailable(error: StoreError) -> SourceError {
    SourceError::Unavailable(error.to_string())
}
