"""More prompts out of frames and fillings, so that the gate learns the frame and not the filling.

The fillings of tasks name things that other classes are about (searching, running, deleting): what a task is called
must not decide what is to be done with it.
"""

TITLES = """buy milk|call mom|pay the rent|renew passport|water the plants|book flights to Rome|clean the garage|email Sarah
the tax return|dentist|gym|laundry|quarterly report|fix the sink|groceries|pick up the kids|send the invoice|read chapter 5
update the website|delete old backups|search for a new apartment|run the marathon training|check the weather for the trip
finish the slides|write the blog post|look up train times|calculate the budget|review pull request 42|ask Tom about the keys
feed the cat|change the oil|birthday present for Lena|visa application|cancel the newspaper|return the books|walk the dog
prepare the demo|meeting with the lawyer|restore the old bike|complete the survey|find a plumber|list the furniture for sale
learn Spanish|vacuum the car|the insurance claim|order new glasses|plan the offsite|move the sofa|open a savings account
sign the contract|the school form|backup the server|test the new script|google hotels in Kyoto|print boarding passes
translate the letter|call the bank about the card|lunch with Anna|refill the prescription|talk to HR|mow the lawn"""

WHEN = """||||| tomorrow| by Friday| next week| on Monday at 9| tonight| due 2026-05-01| before the weekend| in two days
 at 6pm| by end of month| this afternoon"""

TOPICS = """the election|electric cars|Lionel Messi|the Tesla stock|bitcoin|the housing market|Taylor Swift|the war|AI
the Premier League|Formula 1|the iPhone|Rust 2.0|the budget vote|the flood|climate talks|SpaceX|the strike|interest rates
oil prices|the wildfire|the new Batman movie|measles|the Nobel prize|the metro line|Nvidia|the peace talks|Wimbledon"""

PLACES = """Seoul|Paris|New York|Berlin|Tokyo|London|Lagos|Mumbai|Sydney|Toronto|Madrid|Cairo|Oslo|Boston|Chicago|Rome
Vienna|Lima|Dublin|Zurich"""

NUMBERS = """3, 9, 27 and 81|12, 45, 7, 30|1.5, 2.25 and 8|4 8 15 16 23 42|100, 250, 975|17 and 391|88, 12, 5, 63, 9
[2, 4, 6, 8]|(1, 5, 9)|3.2 4.8 9.9 1.0"""

SUBJECTS = """photosynthesis|gravity|the French Revolution|recursion|jazz|chess|the water cycle|democracy|black holes|vaccines
stoicism|evolution|inflation|the Roman Empire|friendship|poetry|electricity|the alphabet|machine learning|a search engine
a database|a to-do list|time management|procrastination|a deadline|cooking|the moon|dinosaurs|object oriented programming"""

VERBS = """delete|remove|get rid of|cancel|complete|finish|close|tick off|update|change|edit|rename|move|postpone|reschedule
restore|undelete|find|look up|search for|google|check|run|execute|calculate|compute|convert|sort|process|analyse|plot|send
forward|share|book|order|buy|pay|fix|handle|do|redo|open|save|print|upload|translate|summarise|prepare|approve|submit|sign"""

GENERICS = """it|that|this|that one|this one|the task|the other one|one of them|them|those|some of them|the thing|all of that
the right one|one of my tasks|a task|something|the old one|the last one|that thing|my thing|the file|the one from before"""

PEOPLE = """me|me|me|the user|the user|the customer|my boss|the client|Maria|the team|a colleague|the owner|someone|Tom"""

DETAILS = "address|date|name|account number|size|colour|budget|file|password|details|time|missing information"

IDS = "1|2|3|5|7|8|12|14|19|23|42|107"

FRAMES = {
    "tasks create": """add {t}{w}|add {t} to my list|add a task to {t}{w}|create a task: {t}{w}|new task {t}{w}
remind me to {t}{w}|remind me{w} to {t}|put {t} on my todo list|todo: {t}{w}|I need to {t}{w}, add it to my list
don't let me forget to {t}{w}|make a todo for "{t}"{w}|create a high priority task called {t}|note down that I have to {t}{w}
please add "{t}" as a low priority task|can you add {t} to my tasks{w}|I have to {t}{w}, please remember that
set a reminder to {t}{w}|jot down {t}|another task: {t}{w}|{t}{w}, add that to my todos|write down: {t}
stick {t} on my list|throw "{t}" on the todo list|reminder: {t}{w}|task: {t}{w}|make sure I don't forget to {t}{w}
I've got to {t}{w}, write that down|I have to {t}{w}|need to {t}{w}|gotta {t}{w}|remember to {t}{w}|track this: {t}{w}
could you create an item to {t}|plan: {t}{w}, make it a task|capture {t} as a task|add task "{t}" with the description "{u}"
have me {t}{w}|get me to {t}{w}|put {t} on my list for{w2}|add a high priority task to {t}{w}|keep track of {t} for me
log a todo: {t}|put {t} down as something to do{w}|I should {t} soon, put it on the list|add "{t}" as urgent|enter a task: {t}
{t}{w}, make a task for that|save a to-do about {t}|I must not forget to {t}{w}, keep it on my list|nudge me to {t}{w}
add a todo to delete {t}|new todo, cancel {t}|add a task to search for {t}|add a task: update {t}""",
    "tasks list": """show my tasks{w}|what do I have to do{w}|what's on my list{w}|list all {p} tasks|show me the {p} ones
which tasks are due{w}|anything {p} on my list|do I have {p} tasks|what is still open{w}|give me my {p} todos
show only the {p} ones|list everything with the label home|any {p} items|{p} tasks|all my {p} tasks please
what's due{w}|how many {p} tasks do I have|what's left{w}|let me see my list|what did I plan{w}|show everything due{w}
what's on my plate{w}|am I behind on anything|is my list empty|which tasks are tagged work|what do I need to get done{w}
pull up my todos|how's my to-do list looking|my agenda{w}|what have I completed{w}|my todo list|show me what is left to do""",
    "tasks complete": """mark {t} as done|mark "{t}" complete|complete the task {t}|check off {t}|tick off "{t}"
I finished {t}|{t} is done|I'm done with {t}, mark it|mark task {i} as done|task {i} is finished|complete task {i}
cross {t} off my list|done: {t}|set {t} to completed|I have done the {t} task|the {t} one is finished now, check it off
close task {i}|mark {i} and {j} as complete|reopen task {i}|the {t} task is not done after all
cross "{t}" off my list|{t} - done!|I took care of {t}, update my list|that {t} task is wrapped up
check the box for {t}|complete "{t}"|complete {t}|complete the one about {t}|tick the {t} one|the {t} todo can be closed
I already did {t}, tick it off|just finished {t}, check it off|{t} has been done, mark it|mark all {p} tasks as done
we have done {t}, so that task is complete|finish task {i}|uncheck {t}|mark {t} as not done|i did {t}|move {t} to done
{t} is sorted, mark it off|tick off number {i}|number {i} is done|set task {i} to complete|mark {i} as done|{i} is complete""",
    "tasks delete": """delete {t}|delete the {t} task|delete task {i}|remove {t} from my list|remove task {i}|get rid of "{t}"
cancel the {t} task|take {t} off my list|I don't need the {t} task any more, delete it|drop task {i}|erase the todo {t}
scrap {t}, not needed|trash task {i}|delete tasks {i} and {j}|remove the todo about {t}|throw out the {t} reminder
remove the {t} reminder|drop {t} from my list|strike {t} from the list|clear out all my {p} todos
delete all {p} tasks|remove all {p} tasks|I won't do {t}, remove it|{t} got cancelled, take it off my list|bin task {i}
I no longer have to {t}, delete that task|wipe task {i}|kill the {t} task|clear my {p} tasks|forget the {t} task, delete it
don't need {t} any more, remove it from my list|erase task {i}|take task {i} off the list|delete the one about {t}""",
    "tasks update": """move {t} to{w2}|reschedule the {t} task to{w2}|change the due date of {t} to{w2}|rename task {i} to {t}
rename "{t}" to "{u}"|change {t} to {u}|set task {i} to high priority|make {t} urgent|update task {i} with due date{w2}
postpone {t} until{w2}|push task {i} back to{w2}|change task {i} to "{t}"|lower the priority of {t}|tag {t} with home
edit the description of task {i}|the {t} task should be due{w2}|add a note to {t}: bring cash|clear the due date of task {i}
mark {t} as high priority|set the priority of "{t}" to low|delay {t} by a week|put {t} off until{w2}
remove the tag home from task {i}|remove the due date from task {i}|remove the deadline of {t}
add a note to task {i}: {u}|add details to task {i}|append "{u}" to {t}|{t} should be{w2} instead|shift {t} to{w2}
the {t} task is{w2} now, update it|the {t} task can wait, make it low priority|reword {t} as "{u}"|retitle "{t}" as "{u}"
correct task {i}, it is called {t}|put the tag work on {t}|label the {t} task as urgent|bring {t} forward to{w2}
make task {i} due{w2}|extend the deadline of {t} by two days|bump {t} to high priority|task {i} priority low
I'd like the {t} task to say "{u}"|the deadline for {t} moved to{w2}|set the due date of {t} to{w2}|drop the due date of {t}
give {t} a deadline of{w2}|actually {t} is due{w2}, change that|task {i} isn't important any more, lower its priority
add "{u}" to the notes of task {i}|make number {i} low priority|clear the description of task {i}
change number {i} to high priority|move my {t} reminder to{w2}|add a note to the {t} task: {u}|set task {i} due{w2}""",
    "tasks find": """find the task about {t}|search my tasks for {t}|is there a task about {t}|do I have a todo for {t} already
which task is about {t}|look for "{t}" in my tasks|did I already add {t}|find my {t} todo|have I got {t} on my list
any task with '{t}' in the title|what's the id of the {t} task|locate the task that mentions {t}
is {t} on my list somewhere|did I write down something about {t}|where's my todo on {t}|was there a task on {t}
which of my todos is about {t}|I think I had a task about {t}, find it|do I have {t} on my list|search my list for {t}
which task mentioned {t}|have I already noted {t}|look through my todos for {t}""",
    "tasks get": """show task {i}|show me the details of task {i}|what is task {i} about|open task {i}|when is task {i} due
details for todo {i}|what does number {i} on my list say
let me see todo {i}|what's in task {i}|show the notes of task {i}|is task {i} done|how important is task {i}
read task {i} to me|view task {i}|task {i} details|full description of task {i}|what was number {i} again|get task {i}
show details for number {i}|what does task {i} say
has task {i} been completed|is number {i} finished yet|is task {i} done already|what is the due date of task {i}
when do I have to finish task {i}|what's the priority of number {i}|which tags does task {i} have""",
    "tasks restore": """restore task {i}|undelete {t}|bring back the {t} task|I deleted {t} by mistake, restore it
recover the task {t} that I deleted|put the deleted {t} task back|undo deleting task {i}|get back the todo I removed, {t}
un-delete {t}|the {t} task I trashed, I want it back|reverse the deletion of {t}|undelete number {i}
I shouldn't have deleted {t}, bring it back|take back deleting {t}|recover task {i}|I removed {t} by accident, recover it
reinstate the {t} todo|get my deleted {t} task back|put task {i} back, I deleted it too soon|restore {t}
undo delete of number {i}|take the {t} task out of the bin|undo the removal of {t}""",
    "web": """latest news on {o}|what's new with {o}|search the web for {o}|look up {o}|google {o}|what's the weather in {c}
weather in {c}{w}|will it rain in {c}{w}|news about {o} today|find articles on {o}|what is happening with {o} right now
hotels in {c}|best restaurants in {c}|flights to {c}{w}|what time is it in {c}|events in {c}{w}|current price of {o}
search online for {o} in {c}|who is the mayor of {c} now|find recent information about {o}|how is {o} doing these days
is there any update on {o}|check the internet for {o}|population of {c} today|did anything happen with {o} this week
latest news on {s}|search the web for {s}|look up {s} online|google {s}|find recent articles about {s}
is there anything new about {s} this week|what are the newest findings on {s}|find websites about {s}
who is leading in {o} right now|results of {o} yesterday|what did people say about {o} today|reviews of {o}
how much does {o} cost at the moment|when does {o} start this year|live updates on {o}|tickets for {o}{w}""",
    "human": """{v} {g}|{v} {g}|{v} {g}|{v} {g}|{v} {g}|{v} {g}|{v} {g}|{v} {g}|{v} {g}|{v} {g}|{v} {g}|{v} {g}|{v} {g}
{v} {g}|{v} {g}|{v} {g}|{v} {g}|{v} {g}|{v} {g}|{v} {g}|mark {g} as done|mark {g} as complete|mark {g}|is {g} done
change {g} to{w2}|move {g} to{w2}|set {g} to high priority|change the date of {g}|change the priority of {g}
add {g} to my list|remind me about {g}{w}|put {g} on my list|take {g} off the list|bring {g} back|I finished {g}
I don't need {g} any more|can you {v} {g} for me|I want you to {v} {g}|we should {v} {g}|{v} {g}{w}
ask {h} which one it should be|ask {h} for the {d}|ask {h} before you {v} {g}|check with {h} before you {v} {g}
wait for {h} to approve it|get approval from {h} first|confirm with {h} first|let {h} decide|let {h} sign off on {g}
I need the {d} from {h} first|find out from {h} what the {d} is|ask {h} whether to {v} {g}|ask {h} about the {d}
mark {g} done|mark as done|mark a few as {p}|delete a few of my todos|remove the reminder|delete the task
remove some tasks|complete some of my tasks|are {g} done|calculate the total|compute the result|run the program
set the due date|set a reminder|make a reminder for me|can you add a task for me|add a new task|search for something""",
    "none": """what is {s}|explain {s}|explain {s} to a child|how does {s} work|tell me about {s}|remind me what {s} is
remind me how {s} works|what do you know about {s}|who discovered {s}|why is {s} important|write a poem about {s}
write a story about {s}|what's the history of {s}|define {s}|give me an example of {s}|is {s} hard to understand
how do I {t}|what's the best way to {t}|why do people {t}|is it hard to {t}|tips on how to {t}|what does it mean to {t}
what is the capital of the country of {c}|which country is {c} in|what language do they speak in {c}
what do you think of {c}|write a poem about {c}|what is {c} famous for|tell me a joke about {s}|I like {s}
I was thinking about {s} today|do you like {s}|translate "{t}" into French|how do you say "{t}" in Spanish
how do I run a script|how do I delete a file|how does a calculator work|what is {x} plus {y}|what's {x} times {y}
what is {y} minus {x}|how many {z} are in a week|write a function for {s}, just show me|list three facts about {s}
well done|good job with {s}|how many people were there in {s}|draft a message about {s}|fix the grammar: he like {s}""",
    "code": """what is the sum of {n}|calculate the mean of {n}|sort {n}|compute the standard deviation of {n}|plot {n}
run python to average {n}|what's the median of {n}|multiply {n}|find the largest of {n} with a script|sum up {n}
convert {n} to hex|normalise {n}|how much is {i}{j} times {j}{i}|what is {i}{j} * {j}7|what's {i}00 divided by {j}
write a script that sorts {n} and run it|reverse the list {n}|count the numbers above {i} in {n}|average of {n}
{i}{j} + {j}{i} * {i}|compute {i} to the power of {j}|run this: print({i} + {j})|execute echo {i}|calculate {j}% of {i}50""",
}

STATES = "overdue|urgent|high priority|completed|pending|open|finished|low priority|unfinished"

HEADS = "||||please |pls |can you |could you |hey, |ok so |hi, |would you |I'd like you to |quick one: "
TAILS = "|||||| please| pls| thanks|.|!|, thank you| asap"


def cut(text):
    return text.replace("\n", "|").split("|")


def filled(random, per_frame):
    """(prompt, class, intent or None), the same for the same random state."""
    titles, when, ids = cut(TITLES), cut(WHEN), cut(IDS)
    fillings = {"o": cut(TOPICS), "c": cut(PLACES), "n": cut(NUMBERS), "p": cut(STATES), "i": ids, "j": ids}
    fillings |= {"x": ["one", "two", "2", "3"], "y": ["four", "five", "5", "7", "ten"], "z": ["days", "hours"]}
    fillings |= {"s": cut(SUBJECTS), "v": cut(VERBS), "g": cut(GENERICS), "h": cut(PEOPLE), "d": cut(DETAILS)}
    for label, frames in FRAMES.items():
        kind, _, intent = label.partition(" ")
        for frame in cut(frames):
            for _ in range(per_frame):
                values = {name: str(random.choice(values)) for name, values in fillings.items()}
                values["t"], values["u"] = random.choice(titles, 2)
                values["w"] = str(random.choice(when))
                values["w2"] = str(random.choice([one for one in when if one]))
                yield frame.format(**values), kind, intent or None


def dressed(random, prompt):
    """The same wish, said otherwise: politeness, case, a slip of the fingers."""
    out = str(random.choice(cut(HEADS))) + prompt + str(random.choice(cut(TAILS)))
    draw = random.random()
    if draw < 0.2:
        out = out.lower()
    elif draw < 0.4:
        out = out[0].upper() + out[1:]
    if random.random() < 0.35:
        at = int(random.integers(0, max(1, len(out) - 1)))
        kind = random.integers(0, 3)
        if out[at].isalpha():
            if kind == 0:
                out = out[:at] + out[at + 1 :]
            elif kind == 1:
                out = out[:at] + out[at] + out[at:]
            elif at + 1 < len(out):
                out = out[:at] + out[at + 1] + out[at] + out[at + 2 :]
    return out
