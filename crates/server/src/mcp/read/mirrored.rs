//! Parameters that headers repeat: `Mcp-Param-*` on the wire, as the input schema's `x-mcp-header` asks for.

use http::HeaderMap;
use serde_json::Value;
use toolroom_mcp::{Params, RpcError};

use super::headers::{decoded, single};
use crate::mcp::name_index::ProfileIndex;
use crate::mcp::read::call_params::CallParams;

/// Beyond these, JavaScript clients cannot hold a whole number.
const SAFE: i64 = (1 << 53) - 1;

/// Every mirrored argument of the call is repeated by its header, and no header says what the body does not.
pub(crate) fn check(
    profile: &ProfileIndex,
    headers: &HeaderMap,
    fields: &Params<'_>,
    usable: impl Fn(&str) -> bool,
) -> Result<(), RpcError> {
    // What cannot be read is refused by the method itself.
    let Ok(CallParams { name, arguments, .. }) = CallParams::of(fields) else { return Ok(()) };
    let arguments = arguments.unwrap_or_default();
    let name = profile.aliases.mean(&name);
    let Some(mirrored) = profile.mirrored.get(name).filter(|_| usable(name)) else { return Ok(()) };
    for one in mirrored {
        let value = one.argument(&arguments);
        let given = single(headers, &one.header)?.map(|text| decoded(&one.header, text)).transpose()?;
        let agrees = match (value, given.as_deref()) {
            (None | Some(Value::Null), None) => true,
            (Some(value), Some(given)) => says(value, given),
            _ => false,
        };
        if !agrees {
            return Err(RpcError::mismatch(format!(
                "The header {} and the argument '{}' do not agree.",
                one.header,
                one.path.join(".")
            )));
        }
    }
    Ok(())
}

/// Whether a header's text stands for the value.
fn says(value: &Value, given: &str) -> bool {
    match value {
        Value::String(text) => text == given,
        Value::Bool(flag) => given == if *flag { "true" } else { "false" },
        Value::Number(number) => match (number.as_i64(), given.parse::<i64>()) {
            (Some(number), Ok(given)) => number == given && number.abs() <= SAFE,
            // Whole numbers may be written with a fraction of zero.
            _ => number.as_f64().is_some_and(|number| given.parse::<f64>() == Ok(number)),
        },
        // What is not of the annotated type is refused by the schema.
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_compared_as_numbers() {
        assert!(says(&json!(42), "42") && says(&json!(42), "42.0") && says(&json!(-7), "-7"));
        assert!(!says(&json!(42), "43") && !says(&json!(42), "x"));
        assert!(says(&json!(true), "true") && !says(&json!(true), "True"));
    }
}
