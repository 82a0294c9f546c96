//! The run alone, fed with anything: it ends, hands out no call twice, passes words on as they are, and knows what was done.

use proptest::prelude::*;
use serde_json::json;
use toolroom_agent::guard::{Attempt, Evidence};
use toolroom_agent::run::{Effect, Event, Limits, Phase, Planned, Run, Verdict, WaitingCall, told};
use toolroom_contract::ids::PendingId;
use toolroom_model::{Arguments, Message, ToolCall, Turn};

/// What the world does next, as numbers.
#[derive(Clone, Debug)]
enum Move {
    Speak(u8),
    Call(Vec<u8>),
    Fail,
    Return(u8, bool),
    Hold(u8, bool),
    Strange(u8),
    Cancel,
    Late,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        4 => any::<u8>().prop_map(Move::Speak),
        6 => prop::collection::vec(any::<u8>(), 1..5).prop_map(Move::Call),
        1 => Just(Move::Fail),
        10 => (any::<u8>(), any::<bool>()).prop_map(|(n, ok)| Move::Return(n, ok)),
        2 => (any::<u8>(), any::<bool>()).prop_map(|(n, q)| Move::Hold(n, q)),
        1 => any::<u8>().prop_map(Move::Strange),
        1 => Just(Move::Cancel),
        1 => Just(Move::Late),
    ];
    prop::collection::vec(one, 0..120)
}

const WORDS: [&str; 5] =
    ["Hello.", "I've deleted it.", "Done! Bye.", "Which one?", "I have added it. It's done."];

struct World {
    run: Run,
    handed_out: Vec<String>,
    asked: Vec<Planned>,
    flying: Vec<Planned>,
    said: usize,
    spoken: usize,
    changes: usize,
    next: usize,
}

impl World {
    fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::CallTools(batch) => {
                    for planned in batch {
                        assert!(!self.handed_out.contains(&planned.call.id), "handed out twice");
                        self.handed_out.push(planned.call.id.clone());
                        self.flying.push(planned);
                    }
                    assert!(self.flying.len() <= self.run.limits.parallel);
                }
                Effect::Open(calls) => self.asked.extend(calls),
                Effect::Say(text) => {
                    assert!(WORDS.contains(&text.as_str()), "not as it was said: {text}");
                    self.said += 1;
                }
                Effect::CallModel(_) => assert!(matches!(self.run.phase, Phase::Model(_))),
                Effect::Stop => assert!(self.run.is_over()),
            }
        }
        // It can be written down at every step.
        let text = serde_json::to_string(&self.run).unwrap();
        assert_eq!(serde_json::from_str::<Run>(&text).unwrap(), self.run);
    }

    fn plan(&mut self, kind: u8) -> (ToolCall, Verdict) {
        self.next += 1;
        let id = format!("c{}", self.next);
        let call = ToolCall { id, name: "t".into(), arguments: Arguments::Json(json!({})) };
        let planned = Planned {
            call: call.clone(),
            profile: "default".into(),
            name: "t".into(),
            params: json!({}),
            untrusted: kind.is_multiple_of(5),
            changes: kind.is_multiple_of(2),
            parallel: kind.is_multiple_of(3),
            at: 0,
            zone: None,
            scope: "s".into(),
            approval: None,
        };
        let verdict = match kind % 7 {
            0 => Verdict::Ask(planned),
            1 => Verdict::Refuse(told(&call, json!({ "error": "no" })), kind.is_multiple_of(2)),
            _ => Verdict::Run(planned),
        };
        (call, verdict)
    }

    fn play(&mut self, one: &Move) {
        let pick = |list: &mut Vec<Planned>, n: u8| {
            if list.is_empty() { None } else { Some(list.remove(usize::from(n) % list.len())) }
        };
        let event = match one {
            Move::Speak(n) => {
                self.spoken += usize::from(matches!(self.run.phase, Phase::Model(_)));
                let turn = Turn::text(WORDS[usize::from(*n) % WORDS.len()]);
                Event::Turned { turn, verdicts: Vec::new() }
            }
            Move::Call(kinds) => {
                self.spoken += usize::from(matches!(self.run.phase, Phase::Model(_)));
                let (calls, verdicts) = kinds.iter().map(|kind| self.plan(*kind)).unzip();
                Event::Turned { turn: Turn { text: WORDS[1].into(), calls, ..Turn::default() }, verdicts }
            }
            Move::Fail => Event::ModelFailed("gone".into()),
            Move::Return(n, ok) => {
                let opened = matches!(self.run.phase, Phase::Asking(_));
                let list = if opened { &mut self.asked } else { &mut self.flying };
                let Some(planned) = pick(list, *n) else { return };
                let changed = *ok && planned.changes && !opened && !self.run.is_over();
                self.changes += usize::from(changed);
                let attempt = if changed { Attempt::Changed } else { Attempt::Failed };
                let message = told(&planned.call, json!({}));
                Event::Returned { id: planned.call.id, message, attempt }
            }
            Move::Hold(n, question) => {
                let opened = matches!(self.run.phase, Phase::Asking(_));
                let list = if opened { &mut self.asked } else { &mut self.flying };
                let Some(planned) = pick(list, *n) else { return };
                let message = told(&planned.call, json!({}));
                Event::Waiting {
                    call: WaitingCall { planned, request: PendingId::new(), question: *question && !opened },
                    message,
                }
            }
            Move::Strange(n) => Event::Returned {
                id: format!("c{n}x"),
                message: Message::user("not a result"),
                attempt: Attempt::Changed,
            },
            Move::Cancel => Event::Cancel,
            Move::Late => Event::OutOfTime,
        };
        let effects = self.run.step(event);
        self.take(effects);
    }

    /// A world that goes on answering until the run is over.
    fn exhaust(&mut self) -> usize {
        let mut steps = 0;
        while !self.run.is_over() {
            steps += 1;
            assert!(steps < 10_000, "it does not end: {:?}", self.run.phase);
            match &self.run.phase {
                Phase::Model(_) => self.play(&Move::Call(vec![2, 3, 9, 4])),
                Phase::Asking(_) => self.play(&Move::Return(0, false)),
                _ => self.play(&Move::Return(0, true)),
            }
        }
        steps
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_events_ends_repeats_no_call_and_knows_what_was_done(moves in moves()) {
        let mut run = Run::begin(Limits::default(), Evidence::default());
        let first = run.start();
        let mut world = World {
            run, handed_out: Vec::new(), asked: Vec::new(), flying: Vec::new(), said: 0, spoken: 0, changes: 0, next: 0,
        };
        world.take(first);
        for one in &moves {
            world.play(one);
        }
        world.exhaust();
        prop_assert!(world.run.turns <= world.run.limits.turns);
        prop_assert!(world.run.calls <= world.run.limits.calls);
        // Every call has a result, so that the conversation can go on.
        let called: usize = world.run.transcript.iter().map(|message| match message {
            Message::Assistant { calls, .. } => calls.len(),
            _ => 0,
        }).sum();
        let told = world.run.transcript.iter().filter(|message| matches!(message, Message::Tool { .. })).count();
        prop_assert_eq!(called, told);
        let done = world.run.evidence.calls.iter().filter(|call| **call == Attempt::Changed).count();
        prop_assert_eq!(done, world.changes, "a change counts once, and nothing else does");
        prop_assert_eq!(world.said, world.spoken, "every word is passed on, once");
        // Nothing happens any more.
        prop_assert!(world.run.step(Event::Cancel).is_empty());
    }
}
