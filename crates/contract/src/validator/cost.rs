//! What a schema costs, before anything is compiled: a small text can expand to an endless schema.
//!
//! The schema is read as a graph: subschemas, and which of them apply to the same value (`anyOf`, `$ref`) or to a
//! part of it (`properties`, `items`). Cycles through a part end with the value, and are left to the budget of the
//! call; everything else is counted as often as it would be visited.

use serde_json::Value;

use super::graph::{Graph, Link, Node};
use super::metered::Rates;
use super::{BadSchema, patterns};

/// Subschemas, with each one counted as often as it is referred to.
const MOST_NODES: u64 = 20_000;
/// Subschemas that apply to one and the same value.
const MOST_IN_PLACE: u64 = 4_096;
/// Subschemas on the way from one value to the next part of it.
const DEEPEST_IN_PLACE: u64 = 64;
/// Memory for the pointers of all keywords, which the validator keeps written out.
const MOST_POINTER_BYTES: u64 = 16 * 1024 * 1024;
/// Memory for the patterns of one schema.
const MOST_PATTERN_BYTES: u64 = 16 * 1024 * 1024;

/// What a schema costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchemaCost {
    /// Subschemas, with each one counted as often as it is referred to.
    pub nodes: u64,
    /// About the memory of its patterns when they are compiled.
    pub pattern_bytes: u64,
}

impl SchemaCost {
    /// The cost of both.
    pub fn plus(self, other: Self) -> Self {
        Self {
            nodes: self.nodes.saturating_add(other.nodes),
            pattern_bytes: self.pattern_bytes.saturating_add(other.pattern_bytes),
        }
    }
}

/// Refuses a schema that costs too much.
pub(super) fn measure(schema: &Value) -> Result<(SchemaCost, Rates), BadSchema> {
    let graph = Graph::read(schema, MOST_NODES as usize)?;
    let order = in_place_order(&graph)?;
    let widest = widest(&graph, &order)?;
    let nodes = expanded(&graph)?;
    let patterns = all_patterns(&graph)?;
    let rates = Rates {
        per_child: 1 + widest / 16,
        per_text: patterns.positions.div_ceil(4).max(1),
        per_byte: patterns.per_byte,
        per_name_byte: patterns.per_name_byte,
        path_per_level: graph.nodes.iter().map(|node| node.pointer_bytes).max().unwrap_or(0),
    };
    Ok((SchemaCost { nodes, pattern_bytes: patterns.bytes }, rates))
}

fn refuse(pointer: &str, message: String) -> BadSchema {
    BadSchema { pointer: pointer.to_owned(), message }
}

/// The nodes, each after all that apply to the same value as it does.
fn in_place_order(graph: &Graph<'_>) -> Result<Vec<usize>, BadSchema> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; graph.nodes.len()];
    let mut order = Vec::with_capacity(graph.nodes.len());
    for start in 0..graph.nodes.len() {
        let mut stack = vec![(start, 0)];
        while let Some((node, next)) = stack.pop() {
            if next == 0 && states[node] == State::Done {
                continue;
            }
            states[node] = State::Open;
            let mut links = graph.nodes[node].links.iter().enumerate().skip(next);
            match links.find(|(_, link)| link.in_place) {
                Some((at, link)) => {
                    if states[link.to] == State::Open {
                        let message = "refers to itself without going into a field or an item";
                        return Err(refuse(&graph.pointer(node), message.into()));
                    }
                    stack.push((node, at + 1));
                    stack.push((link.to, 0));
                }
                None => {
                    states[node] = State::Done;
                    order.push(node);
                }
            }
        }
    }
    Ok(order)
}

/// How much applies to one value at most.
fn widest(graph: &Graph<'_>, order: &[usize]) -> Result<u64, BadSchema> {
    let mut sums = vec![(0_u64, 0_u64); graph.nodes.len()];
    for &at in order {
        let node = &graph.nodes[at];
        let (mut count, mut depth) = (node.weight, 0);
        for link in node.links.iter().filter(|link| link.in_place) {
            count = count.saturating_add(sums[link.to].0);
            depth = depth.max(sums[link.to].1);
        }
        sums[at] = (count, depth + 1);
        if count > MOST_IN_PLACE {
            let message = format!(
                "more than {MOST_IN_PLACE} subschemas apply to one value, counted with every $ref followed"
            );
            return Err(refuse(&graph.pointer(at), message));
        }
        if depth >= DEEPEST_IN_PLACE {
            let message = format!("more than {DEEPEST_IN_PLACE} subschemas refer to each other in a chain");
            return Err(refuse(&graph.pointer(at), message));
        }
    }
    Ok(sums.iter().map(|(count, _)| *count).max().unwrap_or(1))
}

/// All subschemas with every `$ref` followed; what refers to itself in a circle counts once.
fn expanded(graph: &Graph<'_>) -> Result<u64, BadSchema> {
    let circles = circles(graph);
    let mut sums = vec![(0_u64, 0_u64); circles.count];
    // A circle is finished after all that it leads to, and has a higher number.
    let mut members = vec![Vec::new(); circles.count];
    for (node, circle) in circles.of.iter().enumerate() {
        members[*circle].push(node);
    }
    for (circle, nodes) in members.iter().enumerate() {
        let pointers = nodes.iter().map(|node| pointer_bytes(&graph.nodes[*node]));
        let (mut sum, mut bytes) = (nodes.len() as u64, pointers.fold(0, u64::saturating_add));
        for link in nodes.iter().flat_map(|node| &graph.nodes[*node].links) {
            let to = circles.of[link.to];
            if to != circle {
                sum = sum.saturating_add(sums[to].0);
                bytes = bytes.saturating_add(sums[to].1);
            }
        }
        sums[circle] = (sum, bytes);
    }
    let (nodes, bytes) = circles.of.first().map_or((0, 0), |root| sums[*root]);
    if nodes > MOST_NODES {
        let message = format!("more than {MOST_NODES} subschemas, counted with every $ref followed");
        return Err(refuse("", message));
    }
    if bytes > MOST_POINTER_BYTES {
        let most = MOST_POINTER_BYTES / (1024 * 1024);
        let message = format!("the pointers to its keywords take more than {most} MiB; use shorter names");
        return Err(refuse("", message));
    }
    Ok(nodes)
}

/// The pointers of a subschema and of each of its keywords.
fn pointer_bytes(node: &Node<'_>) -> u64 {
    let keywords = node.value.as_object().map_or(0, serde_json::Map::len) as u64;
    node.pointer_bytes.saturating_mul(1 + keywords)
}

struct Circles {
    of: Vec<usize>,
    count: usize,
}

/// Which nodes reach each other, by Tarjan's algorithm, without recursion.
fn circles(graph: &Graph<'_>) -> Circles {
    const NONE: usize = usize::MAX;
    let size = graph.nodes.len();
    let (mut number, mut low, mut of) = (vec![NONE; size], vec![0; size], vec![NONE; size]);
    let (mut path, mut stack) = (Vec::new(), Vec::new());
    let (mut numbered, mut count) = (0, 0);
    for start in 0..size {
        if number[start] == NONE {
            stack.push((start, 0));
        }
        while let Some((node, next)) = stack.pop() {
            if next == 0 {
                number[node] = numbered;
                low[node] = numbered;
                numbered += 1;
                path.push(node);
            } else {
                let Link { to, .. } = graph.nodes[node].links[next - 1];
                if of[to] == NONE {
                    low[node] = low[node].min(low[to]);
                }
            }
            let links = &graph.nodes[node].links;
            match links.get(next) {
                Some(link) => {
                    stack.push((node, next + 1));
                    if number[link.to] == NONE {
                        stack.push((link.to, 0));
                    } else if of[link.to] == NONE {
                        low[node] = low[node].min(number[link.to]);
                    }
                }
                None if low[node] == number[node] => {
                    while let Some(member) = path.pop() {
                        of[member] = count;
                        if member == node {
                            break;
                        }
                    }
                    count += 1;
                }
                None => {}
            }
        }
    }
    Circles { of, count }
}

/// What the patterns of a schema cost together.
#[derive(Default)]
struct Patterns {
    /// The memory of all.
    bytes: u64,
    /// The positions of the largest.
    positions: u64,
    /// The most that one of them does with a byte, and that those for the names of one object do.
    per_byte: u64,
    per_name_byte: u64,
}

fn all_patterns(graph: &Graph<'_>) -> Result<Patterns, BadSchema> {
    let mut all = Patterns::default();
    // `unevaluatedProperties` asks the patterns of other subschemas too.
    let asks_others = graph.nodes.iter().any(|node| node.value.get("unevaluatedProperties").is_some());
    let mut for_names = 0_u64;
    for (at, node) in graph.nodes.iter().enumerate() {
        let named = node.value.get("patternProperties").and_then(Value::as_object);
        let own = node.value.get("pattern").and_then(Value::as_str).map(|pattern| (pattern, false));
        if !asks_others {
            for_names = 0;
        }
        let names = named.into_iter().flat_map(|map| map.keys().map(|pattern| (pattern.as_str(), true)));
        for (pattern, for_name) in names.chain(own) {
            let cost = patterns::cost(pattern);
            all.bytes = all.bytes.saturating_add(cost.bytes);
            all.positions = all.positions.max(cost.positions);
            if for_name {
                for_names = for_names.saturating_add(cost.per_byte);
            } else {
                all.per_byte = all.per_byte.max(cost.per_byte);
            }
            if all.bytes > MOST_PATTERN_BYTES {
                let most = MOST_PATTERN_BYTES / (1024 * 1024);
                let message = format!("the patterns take more than {most} MiB when they are compiled");
                return Err(refuse(&graph.pointer(at), message));
            }
        }
        all.per_name_byte = all.per_name_byte.max(for_names);
    }
    Ok(all)
}
