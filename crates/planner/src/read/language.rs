//! Recognises that a message is not in English, by its script or its small words.

use crate::text::{Kind, Word};

/// Small words of a language that are not English words, and what is said to its speakers.
const LANGUAGES: &[(&str, &str)] = &[
    (
        "ich|und|nicht|bitte|kannst|mir|meine|meiner|meinen|mein|das|der|ist|eine|einen|einer|zu|zur|auf|für|von|wie|kaufen|hinzufügen|aufgabe|aufgaben|liste|morgen|heute|lösche|zeige|erinnere|du",
        "Ich verstehe leider nur Englisch",
    ),
    (
        "el|la|los|las|una|que|por|para|puedes|mi|mis|lista|añadir|agrega|añade|comprar|tarea|tareas|mañana|hoy|borra|muestra|recuérdame|quiero|hola|favor|está",
        "Lo siento, solo entiendo inglés",
    ),
    (
        "je|le|les|des|une|est|pour|dans|peux|tu|mon|ma|mes|liste|ajoute|ajouter|acheter|tâche|tâches|demain|supprime|montre|rappelle|moi|veux|bonjour|merci|avec|du",
        "Désolé, je ne comprends que l'anglais",
    ),
    (
        "il|gli|che|per|puoi|mia|mio|lista|aggiungi|aggiungere|comprare|attività|domani|oggi|elimina|mostra|ricordami|voglio|ciao|grazie|di|una|alla",
        "Mi dispiace, capisco solo l'inglese",
    ),
    (
        "os|um|uma|não|você|pode|minha|meu|adicione|adicionar|tarefa|tarefas|amanhã|hoje|apague|lembre|obrigado|olá|à|ao|comprar|lista|para|por",
        "Desculpe, só entendo inglês",
    ),
    (
        "ik|het|een|niet|kun|kan|je|mijn|lijst|voeg|toe|aan|kopen|taak|taken|morgen|vandaag|verwijder|toon|herinner|alsjeblieft|hallo|van|voor",
        "Sorry, ik begrijp alleen Engels",
    ),
];

/// What is said to somebody who writes in another language; `None` if the message may be English.
pub(crate) fn other_language(text: &str, words: &[Word]) -> Option<&'static str> {
    const ENGLISH: &str = "the|a|an|my|to|and|of|is|are|it|i|you|please|task|tasks|add|delete|remove|show|mark|done|what|me|on|for|this|that|can|do|with|in|at|buy|call|remind";
    let plain: Vec<&Word> = words.iter().filter(|word| word.kind == Kind::Plain).collect();
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let foreign = text.chars().filter(|c| c.is_alphabetic() && (*c as u32) > 0x24F).count();
    if letters > 3 && foreign * 2 > letters {
        return Some("");
    }
    let count = |list: &str| plain.iter().filter(|word| word.is_any(list)).count();
    let english = count(ENGLISH);
    let (hits, sorry) =
        LANGUAGES.iter().map(|(list, sorry)| (count(list), *sorry)).max_by_key(|(hits, _)| *hits)?;
    (hits >= 2 && hits > 2 * english && hits * 3 >= plain.len()).then_some(sorry)
}
