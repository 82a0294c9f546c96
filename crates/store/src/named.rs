//! Closed sets that are stored and published under fixed names.

/// An enum whose variants have a name each, for the database and for clients alike.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            /// As it is stored and published.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The variant of this name.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl $crate::engine::FromValue for $name {
            const EXPECTED: &'static str = stringify!($name);
            fn from_value(value: $crate::engine::Value) -> Option<Self> {
                if let $crate::engine::Value::Text(text) = value { Self::parse(&text) } else { None }
            }
        }

        impl From<$name> for $crate::engine::Arg<'_> {
            fn from(name: $name) -> Self {
                Self::from(name.as_str())
            }
        }
    };
}
pub(crate) use named;
