//! The parameters of a request: their text, and the fields that more than one method has.

use super::fields::each_field;
use crate::RpcError;
use crate::meta::RequestMeta;

/// The parameters as text, and those that more than one method has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Params<'a> {
    /// All of them, an object.
    pub text: Option<&'a str>,
    meta: Option<&'a str>,
    /// A tool or a prompt.
    pub name: Option<&'a str>,
    /// A resource.
    pub uri: Option<&'a str>,
    /// A deferred call.
    pub task_id: Option<&'a str>,
    /// What a tool or prompt is given.
    pub arguments: Option<&'a str>,
    /// A client's answers to what an earlier try asked.
    pub input_responses: Option<&'a str>,
    /// What that try gave along.
    pub request_state: Option<&'a str>,
}

impl<'a> Params<'a> {
    /// Those of an object whose text is known to be sound.
    pub fn read(text: Option<&'a str>) -> Self {
        let Some(text) = text else { return Self::default() };
        let mut fields = Self { text: Some(text), ..Self::default() };
        // Sound as the text is, every field is given.
        let _ = each_field(text, |key, value| fields.take(key, value));
        fields
    }

    /// What is in `_meta`.
    pub fn meta(&self) -> Result<Option<RequestMeta<'a>>, RpcError> {
        self.meta.map(serde_json::from_str).transpose().map_err(refused)
    }

    fn take(&mut self, key: &str, value: &'a str) {
        let place = match key {
            "_meta" => &mut self.meta,
            "name" => &mut self.name,
            "uri" => &mut self.uri,
            "taskId" => &mut self.task_id,
            "arguments" => &mut self.arguments,
            "inputResponses" => &mut self.input_responses,
            "requestState" => &mut self.request_state,
            _ => return,
        };
        *place = (value != "null").then_some(value);
    }
}

/// What serde_json says about parameters, without the place.
pub fn refused(error: serde_json::Error) -> RpcError {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    RpcError::invalid_params(format!("The parameters are wrong: {what}."))
}
