fn main() {
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        if line.is_empty() {
            continue;
        }
        let line = line.replace("\\n", "\n");
        println!("{line}\n    {}", toolroom_agent::planner::debug(&line));
    }
}
