//! What a person may wish for, as far as the planner can tell.

use toolroom_when::Resolved;

/// One wish.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "a message has few of them, and none is kept")]
pub(crate) enum Wish {
    /// Make tasks; one without a title must be asked about.
    Create(Vec<Draft>),
    /// See several tasks, or how many there are.
    List(Filter),
    /// Read one task, or whether it is done, or when it is due.
    Show(Target),
    /// Whether there is a task of these words.
    Find(String),
    /// Mark as done, or as not done.
    Complete(Target, bool),
    /// Change fields.
    Update(Target, Change),
    /// Remove.
    Delete(Target),
    /// Bring back.
    Restore(Target),
    /// Take the last change back.
    Undo,
    /// Search the web; without words they must be asked for.
    Search(Option<String>),
    /// Run code; without any it must be asked for.
    Run(Option<Code>),
    /// Put a question to a person; without words they must be asked for.
    Ask(Option<String>),
    /// Call another tool of the catalogue, whose name was said.
    Call(String, String),
    /// No wish that needs a tool.
    SmallTalk(SmallTalk),
}

impl Wish {
    /// Whether it would change something.
    pub(crate) fn is_change(&self) -> bool {
        self.target().is_some() && !matches!(self, Self::Show(_))
            || matches!(self, Self::Create(_) | Self::Undo)
    }

    pub(crate) fn target_mut(&mut self) -> Option<&mut Target> {
        match self {
            Self::Complete(target, _)
            | Self::Delete(target)
            | Self::Update(target, _)
            | Self::Restore(target)
            | Self::Show(target) => Some(target),
            _ => None,
        }
    }

    /// The task that is meant.
    pub(crate) fn target(&self) -> Option<&Target> {
        match self {
            Self::Complete(target, _)
            | Self::Delete(target)
            | Self::Update(target, _)
            | Self::Restore(target)
            | Self::Show(target) => Some(target),
            _ => None,
        }
    }
}

/// What is said without a wish for a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SmallTalk {
    Greeting,
    HowAreYou,
    Thanks,
    Farewell,
    /// What can you do?
    Help,
    /// Who or what are you?
    Identity,
    /// What is the date, what time is it?
    Today,
    /// Something is not to be done.
    Leave,
    /// A question of the kind "what would happen if", or whether one should.
    Hypothetical,
    /// How is something done here?
    HowTo,
    /// Never mind.
    Cancel,
    Yes,
    No,
    /// A remark that asks for nothing.
    Remark,
    /// Knowledge or writing that only a language model has.
    Knowledge,
    /// A wish that lacks what any tool would need.
    Vague,
    /// Not understood.
    Unknown,
}

/// How sure a reading is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// Something was said from which a wish may follow; it is offered, not done.
    Hint,
    /// A command beyond doubt.
    Strong,
}

/// A wish, and how sure it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Heard {
    pub wish: Wish,
    pub strength: Strength,
}

/// A task that is to be made.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Draft {
    pub title: Option<String>,
    pub description: Option<String>,
    pub priority: Option<Priority>,
    pub due: Option<When>,
    pub tags: Vec<String>,
    pub done: bool,
    /// The title with its date in it, for tools that know no dates.
    pub undated: Option<String>,
}

/// A date phrase and what it means.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct When {
    pub said: String,
    /// An error says what is wrong with it, for the person.
    pub meaning: Result<Resolved, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    Low,
    Medium,
    High,
}

impl Priority {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// What is to be changed; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Change {
    pub title: Option<String>,
    /// The inner `None` clears it.
    pub description: Option<Option<String>>,
    /// Whether the description is put behind the one that is there.
    pub appends: bool,
    pub priority: Option<Priority>,
    pub due: Option<Option<When>>,
    /// Days by which the due date moves.
    pub days: Option<i64>,
    /// Minutes by which it moves.
    pub minutes: Option<i64>,
    pub add_tags: Vec<String>,
    pub remove_tags: Vec<String>,
    pub clears_tags: bool,
}

impl Change {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a title or a note is wanted whose words were not said.
    pub(crate) fn lacks_words(&self) -> bool {
        self.title.as_deref() == Some("") || matches!(&self.description, Some(Some(note)) if note.is_empty())
    }
}

/// Which task is meant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    /// Nothing was said.
    Missing,
    Ids(Vec<i64>),
    Words(String),
    /// Every task that fits.
    All(Filter),
    /// What was spoken of last.
    It,
    /// Those that were spoken of last.
    Them,
    /// Places in the list that was shown last, from 0.
    Places(Vec<usize>),
    /// The last in the list that was shown last.
    Last,
    /// The one that was not chosen.
    Other,
}

/// Which tasks are meant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Filter {
    /// Whether they are done.
    pub done: Option<bool>,
    pub priority: Option<Priority>,
    pub tag: Option<String>,
    pub due: Option<DueRange>,
    pub text: Option<String>,
    /// Words that may say what they are about, or how many: they count if some title has them.
    pub about: Option<String>,
    /// Words of the tasks that are not meant.
    pub except: Option<String>,
    pub sort: Option<Sort>,
    /// Only the number of them is asked for.
    pub counts: bool,
}

impl Filter {
    /// Whether it leaves nothing out.
    pub(crate) fn is_open_to_all(&self) -> bool {
        Self { about: None, counts: false, ..self.clone() } == Self::default()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DueRange {
    /// Before today, and open.
    Overdue,
    /// From one day to another, both included, and how that was said.
    Between(jiff::civil::Date, jiff::civil::Date, String),
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Due,
    Priority,
    Title,
}

/// Code to run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Code {
    pub text: String,
    /// `python` or `shell`.
    pub language: &'static str,
}

/// The same wish about another task.
pub(crate) fn with_target(wish: &Wish, target: Target) -> Wish {
    let mut wish = wish.clone();
    if let Some(old) = wish.target_mut() {
        *old = target;
    }
    wish
}
