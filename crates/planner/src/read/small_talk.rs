//! What is said without a wish for a tool, and what must not be taken for one.

use super::target::{speaks_of_tasks, trimmed};
use crate::text::{Kind, Word, begins, begins_any, find_any, raw};
use crate::wish::{Heard, SmallTalk, Strength, Wish};

/// Whole messages, or whole clauses, that are talk.
const WHOLE: &[(&str, SmallTalk)] = &[
    ("actually|oh|ok|okay|well|hmm* never mind that|it|then?", SmallTalk::Cancel),
    (
        "nevermind|nvm|cancel|stop|abort|quit|exit|forget that|it|this|about|everything|please|now*",
        SmallTalk::Cancel,
    ),
    ("forget|drop|scrap it|that|about|this*", SmallTalk::Cancel),
    ("leave it|that|them alone|be|as|it|is?", SmallTalk::Cancel),
    (
        "yes|y|yep|yeah|yup|sure|ok|okay|confirm|confirmed|absolutely|definitely|correct|right|affirmative|please|do|it|go|ahead|of|course|thats|fine|good|sounds|great|perfect|by|all|means|exactly|indeed*",
        SmallTalk::Yes,
    ),
    ("no|n|nope|nah|not|now|thanks|thank|you|dont|do|it|negative|please|way*", SmallTalk::No),
    (
        "hi|hello|hey|hiya|howdy|greetings|yo|good|morning|afternoon|evening|day|there|everyone|again|toolroom|assistant|bot|sup*",
        SmallTalk::Greeting,
    ),
    ("how are|r you|u doing|today|this|morning|now|feeling?", SmallTalk::HowAreYou),
    ("hows it going|everything|life|your|day*", SmallTalk::HowAreYou),
    ("hi|hello|hey how are you doing|today?", SmallTalk::HowAreYou),
    ("whats up|new|happening|going|on*", SmallTalk::HowAreYou),
    ("what is up", SmallTalk::HowAreYou),
    (
        "thanks|thank|you|thx|ty|cheers|so|very|much|a|lot|for|that|the|help|your|really|appreciated|appreciate|it|i|great|job|nice|well|done|awesome|cool|perfect|excellent|amazing|good|work|bot|love*",
        SmallTalk::Thanks,
    ),
    (
        "bye|goodbye|see|you|later|good|night|ciao|farewell|cya|for|now|soon|tomorrow|ttyl|around|have|a|nice|day|one*",
        SmallTalk::Farewell,
    ),
];

const HELP: &[&str] = &[
    "help me|please?",
    "what can|could|do|are|else you|i|u do|help|able|say|ask|with|to|for|me|here|all|using|this|offline|now|capable|of|exactly*",
    "what|which are|is your|the|you|commands|features|capabilities|abilities|skills|functions|capable|options|available|of*",
    "how can|do|does|could you|i|this|it help|work|use|me|with|you|this|get|started|start*",
    "what tools|commands|features|things|functions|skills do|can|are|have|you|i|use|there|available|know|support*",
    "list|show|tell|give me? your|the|all|available|of* commands|features|capabilities|tools|functions|options",
    "who can you help",
];

const IDENTITY: &[&str] = &[
    "who|what|whats|whos are|is|am|made|built|created|your|you|u|this|i|talking|to|name|model|exactly|kind|of|bot|assistant|ai|llm|chatbot|language*",
    "are|r you|u|this|we|i really|just|even|actually* a|an|the|chatting|talking|to|with* real|large|actual|kind|true|proper* ai|bot|robot|human|llm|chatbot|gpt|chatgpt|claude|gemini|model|person|machine|program|computer|intelligence|intelligent|language|smart|openai|copilot|siri|alexa|offline|online|alive|conscious|sentient|neural|network model|bot|program|assistant|one|or|something|person|human|a|network|planner*",
    "what|which ai|model|llm|version|language|engine|kind|type* are|is|do|does|powers|runs|of|ai|model|llm|assistant|bot* you|this|use|using|behind|answering|run|on|running*",
    "do|are you use|using|have|run|running on? a|an|any|the? llm|language|gpt|ai|model|openai|large|internet",
    "is this|there an|a|the ai|bot|human|llm|person|language model?",
    "tell me about yourself",
    "introduce yourself",
    "how do you work",
];

/// SmallTalk, if the clause is nothing else.
pub(super) fn whole(words: &[Word]) -> Option<SmallTalk> {
    let words = unsigned(words);
    let length = words.len();
    if words.is_empty() {
        return None;
    }
    let all = |pattern: &str| {
        begins(words, pattern)
            .is_some_and(|taken| words.get(taken..).is_some_and(|rest| rest.iter().all(Word::is_sign)))
    };
    let politely = super::stripped(words);
    let asked = |patterns: &[&str]| {
        patterns.iter().any(|pattern| {
            begins(politely, pattern).is_some_and(|taken| taken == politely.len()) && !politely.is_empty()
        })
    };
    if let Some((_, talk)) = WHOLE.iter().find(|(pattern, _)| all(pattern)) {
        return Some(sobered(*talk, words));
    }
    if asked(HELP) || all("help|?") {
        return Some(SmallTalk::Help);
    }
    if asked(IDENTITY) && length <= 14 && !speaks_of_tasks(words) {
        let answers = find_any(words, &["you|u|your|yourself", "this|i|we|there"]).is_some();
        return answers.then_some(SmallTalk::Identity);
    }
    if asked(&[
        "what|whats is|are? the|todays|current|today|date|day|time|now|it|of|week|month|year*",
        "what day|time|date|month|year is|it|today|now|the*",
        "tell me the time|date",
    ]) && find_any(words, &["day|date|time|month|year|today"]).is_some()
    {
        return Some(SmallTalk::Today);
    }
    None
}

/// A message of yes-words must hold one that says it.
fn sobered(talk: SmallTalk, words: &[Word]) -> SmallTalk {
    let has = |list: &[&str]| words.iter().any(|word| word.is_any(list));
    match talk {
        SmallTalk::Yes
            if has(&[
                "yes",
                "y",
                "yep",
                "yeah",
                "yup",
                "sure",
                "ok",
                "okay",
                "confirm",
                "confirmed",
                "absolutely",
                "definitely",
                "correct",
                "affirmative",
                "exactly",
                "indeed",
                "right",
            ]) =>
        {
            SmallTalk::Yes
        }
        SmallTalk::Yes if has(&["do", "go", "course", "means", "fine", "good", "great", "perfect"]) => {
            SmallTalk::Yes
        }
        SmallTalk::No if has(&["no", "n", "nope", "nah", "dont", "negative"]) => SmallTalk::No,
        SmallTalk::No if has(&["thanks", "thank"]) => SmallTalk::Thanks,
        SmallTalk::Thanks
            if has(&["thanks", "thank", "thx", "ty", "cheers", "appreciate", "appreciated"]) =>
        {
            SmallTalk::Thanks
        }
        SmallTalk::Thanks | SmallTalk::Yes | SmallTalk::No => SmallTalk::Remark,
        SmallTalk::Farewell
            if has(&[
                "bye", "goodbye", "night", "ciao", "farewell", "cya", "see", "ttyl", "later", "around",
            ]) =>
        {
            SmallTalk::Farewell
        }
        SmallTalk::Farewell => SmallTalk::Remark,
        other => other,
    }
}

/// Whether talk counts beside other clauses.
pub(super) fn counts(talk: SmallTalk) -> bool {
    !matches!(
        talk,
        SmallTalk::Greeting
            | SmallTalk::Thanks
            | SmallTalk::Yes
            | SmallTalk::HowAreYou
            | SmallTalk::Remark
            | SmallTalk::Farewell
    )
}

/// Whether talk is worth an answer beside a wish.
pub(super) fn stays(talk: SmallTalk) -> bool {
    matches!(
        talk,
        SmallTalk::Leave
            | SmallTalk::Hypothetical
            | SmallTalk::HowTo
            | SmallTalk::Help
            | SmallTalk::Identity
            | SmallTalk::Cancel
            | SmallTalk::Today
    )
}

/// "ask Anna whether we ship", "ask a human: …", "check with me first".
pub(super) fn ask_human(text: &str, words: &[Word]) -> Option<Heard> {
    let joint = words.iter().position(|word| {
        word.is_any(&["whether", "if", "what", "which", "when", "how", "why", "who", "where"])
    });
    if let (Some(_), Some(joint @ 2..=4)) = (begins(words, "ask"), joint)
        && begins(words, "ask me|yourself").is_none()
    {
        let whom = raw(text, words.get(1..joint)?);
        let question = format!("Question for {whom}: {}", raw(text, trimmed(words.get(joint..)?)));
        return Some(Heard { wish: Wish::Ask(Some(sentence(&question))), strength: Strength::Strong });
    }
    let length = begins_any(
        words,
        &[
            "ask|question|consult|poll|query a|an|the|my|our|some* human|person|user|operator|people|someone|somebody|boss|manager|team|colleague|customer|admin|me|him|her|them|supervisor|owner|expert|reviewer|anybody|anyone",
            "request|get|obtain|seek|need a|an|some|the* human|persons|manual|personal? input|approval|opinion|confirmation|feedback|answer|decision|sign-off|permission from|of|about|on|for|by*",
            "request human input about|on|for?",
            "check|confirm|verify|clarify with a|an|the|my* human|person|user|someone|somebody|boss|me|him|her|them|team|manager|owner",
        ],
    )?;
    let rest = words.get(length..)?;
    let rest = unsigned(rest);
    let rest = trimmed(
        rest.get(
            begins(rest, "the|this|following* question?")
                .filter(|taken| rest.get(*taken).is_some_and(|word| word.kind == Kind::Sign(':')))
                .unwrap_or(0)..,
        )?,
    );
    let question = match rest {
        [one] if one.kind == Kind::Quoted => text.get(one.inner.clone())?.to_owned(),
        _ => raw(text, rest).trim().to_owned(),
    };
    let question = sentence(&question);
    Some(Heard {
        wish: Wish::Ask((!question.is_empty()).then_some(question)),
        strength: if rest.len() > 1 { Strength::Strong } else { Strength::Hint },
    })
}

/// "ask a person: is this right?", where what follows the colon is the question.
pub(super) fn ask_in_full(text: &str, words: &[Word]) -> Option<Heard> {
    let colon = words.iter().position(|word| word.kind == Kind::Sign(':')).filter(|at| *at <= 6)?;
    begins(words, "ask|request")?;
    words.get(..colon)?.iter().any(|word| !word.is("me")).then(|| ask_human(text, words)).flatten()
}

/// A question as it is put: "whether we ship" becomes "Whether we ship?".
fn sentence(said: &str) -> String {
    let mut chars = said.chars();
    match chars.next() {
        Some(first) => {
            let whole: String = first.to_uppercase().chain(chars).collect();
            if whole.ends_with(['?', '.', '!']) { whole } else { format!("{whole}?") }
        }
        None => String::new(),
    }
}

fn unsigned(words: &[Word]) -> &[Word] {
    super::create::unsigned(words)
}
