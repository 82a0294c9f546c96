//! Importing what people have: APIs as tools, and the servers of other programs.

mod calls;
mod clients;
mod mock_api;
mod openapi;
mod sample;
mod whole_documents;
