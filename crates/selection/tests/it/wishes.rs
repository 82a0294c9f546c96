//! Whether a message may ask for a change: what does is found, what asks for words alone is let be.

use toolroom_selection::may_ask_for_change;

/// Messages that ask for a change.
const ASKS: &[&str] = &[
    "delete task 5",
    "Please clean up",
    "add buy milk",
    "add milk",
    "remind me to call mom tomorrow",
    "I finished the milk task",
    "I bought the milk",
    "mark everything as done",
    "can you delete it?",
    "could you move the dentist to Friday?",
    "do it",
    "Write Anna a short mail and delete task 3",
    "summarize my week, then remove the finished tasks",
    "put bread on my list",
    "add \"write a poem\" to my list",
    "make the report high priority",
    "reopen 2",
    "delete everything",
    "delete my card",
    "did you delete it?",
    "run code that deletes the rows of the table",
    "delete task 1 and greet everyone",
    "send the report to Ann",
    "add a card for bread",
    "Lösche Aufgabe 5",
    "Kannst du bitte alle erledigten Aufgaben löschen?",
    "Füge Milch zu meiner Liste hinzu",
    "Aufgabe 3 ist erledigt",
    "Verschieb den Zahnarzt auf Freitag",
    "Schreib Anna eine Mail und lösche Aufgabe 3",
    "Erinnere mich morgen an die Steuer",
    "Erinnere mich morgen an den Anruf bei Mama",
    "Mama anrufen morgen",
    "Supprime la tâche 5",
    "Je voudrais que tu supprimes la tâche 3",
    "Ajoute du pain à ma liste",
    "Peux-tu marquer la tâche 2 comme terminée ?",
    "Rappelle-moi d'appeler maman",
    "Borra la tarea 5",
    "¿Puedes borrar la tarea 3?",
    "Añade leche a mi lista",
    "Marca la tarea 2 como hecha",
    "Quiero que elimines todas las tareas",
    "Recuérdame llamar a mamá mañana",
    "タスク5を削除してください",
    "牛乳を買うをリストに追加して",
    "タスク2を完了にして",
    "明日の会議を金曜日に変更して",
    "メールを書いて、タスク5を削除して",
    "احذف المهمة 5",
    "أضف شراء الحليب إلى قائمتي",
    "هل يمكنك حذف المهمة الثالثة؟",
    "ذكّرني بالاتصال بأمي غدا",
    "اكتب رسالة إلى آنا واحذف المهمة 3",
    "Elimina l'attività 5",
    "Apague a tarefa 5",
    "Verwijder taak 5",
    "Удали задачу 5",
    "删除任务5",
    "작업 5를 삭제해 주세요",
    "Usuń zadanie 5",
    "Görev 5'i sil",
    "Slet opgave 5",
    "Ta bort uppgift 5",
    "Hapus tugas 5",
    "Obrisi zadatak 5",
    "Xoa nhiem vu 5",
    "Futa kazi ya 5",
    "¿Puedes mover el dentista al viernes?",
    "Poista tehtävä 5",
];

/// Messages that ask for words alone.
const DOES_NOT: &[&str] = &[
    "hello",
    "Say hello.",
    "thanks a lot!",
    "what is the capital of France?",
    "what is on my list?",
    "show my tasks",
    "which tasks are due this week?",
    "write me a poem about the sea",
    "Write a mail to my landlord that I have paid the rent",
    "Draft an email to the team saying the old files were deleted",
    "Explain how to delete a branch in git",
    "How do I remove a file in Python?",
    "Write a Python function that deletes a file",
    "Give me a plan for a week in Lisbon",
    "what is the weather?",
    "Write a bash script that removes empty folders",
    "Compose a haiku about autumn",
    "tell me a joke",
    "who wrote Hamlet?",
    "Schreibe ein Gedicht über das Meer",
    "Schreib eine Mail an Frau Huber, dass ich den Termin verschoben habe",
    "Wie lösche ich eine Datei in Python?",
    "Welche Aufgaben habe ich heute?",
    "Danke!",
    "Hallo",
    "Mach mir einen Wochenplan für das Training",
    "Schreib eine Funktion, die Dateien löscht",
    "Écris un poème sur la mer",
    "Rédige un courriel à mon propriétaire pour dire que j'ai payé le loyer",
    "Comment supprimer un fichier en Python ?",
    "Quelles sont mes tâches ?",
    "Merci beaucoup",
    "Traduis en anglais : « J'ai supprimé la tâche »",
    "Translate: \"delete the file\"",
    "Fais-moi un plan de révision pour une semaine",
    "Escribe un poema sobre el mar",
    "Redacta un correo a mi casero diciendo que ya pagué el alquiler",
    "¿Cómo borro un archivo en Python?",
    "¿Qué tareas tengo hoy?",
    "Hola",
    "海についての詩を書いて",
    "大家さんに家賃を払ったというメールを書いてください",
    "ファイルを削除する関数を書いて",
    "今日のタスクを見せて",
    "ありがとう",
    "秋の俳句を一つ詠んで",
    "اكتب قصيدة عن البحر",
    "اكتب رسالة إلى صاحب البيت أخبره فيها أنني دفعت الإيجار",
    "كيف أحذف ملفا في بايثون؟",
    "ما هي مهامي اليوم؟",
    "شكرا",
];

#[test]
fn messages_that_ask_for_a_change_are_known_and_requests_for_words_are_let_be() {
    let missed: Vec<_> = ASKS.iter().filter(|text| !may_ask_for_change(text)).collect();
    let wrong: Vec<_> = DOES_NOT.iter().filter(|text| may_ask_for_change(text)).collect();
    assert!(missed.is_empty() && wrong.is_empty(), "missed: {missed:#?}\nwrong: {wrong:#?}");
}

/// The prompts that were learned from: the figures are those of a reading that works at all.
#[test]
fn of_the_prompts_with_known_answers_those_that_change_something_are_found() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../eval/learn.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    let (mut changes, mut found, mut others, mut noted) = (0, 0, 0, 0);
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let asks = may_ask_for_change(line["prompt"].as_str().unwrap());
        let reads = ["list", "find", "get"].iter().any(|one| line["intent"] == *one);
        if line["class"] == "tasks" && !reads {
            (changes, found) = (changes + 1, found + usize::from(asks));
        } else if line["class"] == "none" || reads {
            (others, noted) = (others + 1, noted + usize::from(asks));
        }
    }
    assert!(found * 100 >= changes * 99, "{found} of {changes}");
    assert!(noted * 100 <= others * 3, "{noted} of {others}");
}

#[test]
fn promise_reading_a_message_for_a_wish_takes_work_that_grows_with_its_length_alone() {
    let target = toolroom_work::fuzz::Target {
        name: "wishes for changes",
        words: &[
            "delete",
            "write",
            "task",
            "remind",
            "me",
            "what",
            "and",
            ",",
            ".",
            "5",
            "\u{644}",
            "\u{648}\u{627}\u{62d}",
            "\u{524a}\u{9664}",
            "\u{3057}\u{3066}",
            "l\u{f6}sche",
            "\u{bf}",
            " ",
            "\n",
            "it",
            "list",
        ],
        sample: 200,
        longest: 20_000,
        // No more than the beginning and the end of a message are read.
        fixed: 4_000_000,
        per_byte: 4,
    };
    target.run(|text| {
        let _ = may_ask_for_change(text);
    });
}
