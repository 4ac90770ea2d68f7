use deepgraph_protocol::{IntentClass, QuestionKind};

use super::*;

fn class(name: &str, kind: Option<QuestionKind>, when: &[&str]) -> IntentClass {
    IntentClass {
        name: name.into(),
        kind,
        when: when.iter().map(|phrase| (*phrase).into()).collect(),
        ..IntentClass::default()
    }
}

fn classes() -> Vec<IntentClass> {
    let fact = [
        "wie viele",
        "wie hoch ist",
        "combien de",
        "cuántos",
        "сколько",
        "有多少",
        "何人",
        "กี่คน",
        "what is the * of",
    ];
    vec![
        class("fact", Some(QuestionKind::Narrow), &fact),
        class("brief", Some(QuestionKind::Broad), &["marktüberblick", "aperçu * marché", "比较"]),
        class("legal", Some(QuestionKind::Exhaustive), &["rechtsprechung", "toutes les * décisions", "所有"]),
    ]
}

fn class_of(question: &str) -> String {
    let choice = RuleClassifier.classify(question, &classes());
    choice.map_or("-".to_owned(), |choice| choice.name.to_string())
}

#[test]
fn questions_find_their_class() {
    for (question, wanted) in [
        // Told by wording.
        ("How many people live in Norway?", "fact"),
        ("When was the Corrigan C70 certified?", "fact"),
        ("who wrote the harbour report", "fact"),
        ("What is the maximum range of the N60?", "fact"),
        ("What is the best way to cross the bay?", "-"),
        ("Compare the N60 and the N90 on range", "brief"),
        ("How many cranes has each of the ports, and how do they differ?", "brief"),
        ("Why did the ferry line close?", "brief"),
        ("Give me an overview of electric ferries", "brief"),
        ("How many? And where?", "brief"),
        ("List all decisions on ballast water", "legal"),
        ("Do a due diligence on the shipyard: who is its owner?", "legal"),
        ("ferries", "-"),
        ("", "-"),
        ("???", "-"),
        // Told by phrases, in other languages.
        ("Wie viele Menschen leben in Norwegen?", "fact"),
        ("WIE  VIELE Menschen leben in Norwegen?", "fact"),
        ("Combien de personnes vivent en Norvège ?", "fact"),
        ("¿Cuantos habitantes tiene Noruega?", "fact"),
        ("Сколько людей живёт в Норвегии?", "fact"),
        ("挪威有多少人口？", "fact"),
        ("ノルウェーの人口は何人ですか", "fact"),
        ("นอร์เวย์มีประชากรกี่คน", "fact"),
        ("Ein Marktüberblick über Fähren", "brief"),
        ("Un aperçu détaillé du marché des ferries", "brief"),
        ("比较两种渡轮", "brief"),
        ("Rechtsprechung zu Ballastwasser", "legal"),
        ("Toutes les grandes décisions", "legal"),
        ("列出所有判决", "legal"),
        // Of several phrases that of most words decides, but never for one fact where more is wanted.
        ("wie viele Entscheidungen nennt die Rechtsprechung", "fact"),
        ("Compare: what is the mood of Norway?", "brief"),
        ("Vergleiche, wie viele Menschen in Norwegen und Chile leben, und erkläre warum", "-"),
        ("Combien de ports a le Chili, et pourquoi ?", "-"),
        ("¿Cuántos puertos tiene Chile y por qué?", "-"),
        ("为什么挪威有多少人口很重要？", "-"),
        // A star stands for two words at most.
        ("What is the very long and boring mood of Norway?", "-"),
        // The words of a phrase stand side by side, and are whole words.
        ("wie oft und viele", "-"),
        ("unwie viele", "-"),
    ] {
        assert_eq!(class_of(question), wanted, "{question}");
    }
}

#[test]
fn reasons_name_what_decided() {
    let why = |question| RuleClassifier.classify(question, &classes()).map(|choice| choice.why);
    assert_eq!(
        why("What is the mood of Norway?").as_deref(),
        Some("the question has the phrase \"what is the * of\"")
    );
    assert_eq!(why("How many?").as_deref(), Some("the question is narrow: it says \"how many\""));
    let long = "word ".repeat(41);
    assert_eq!(why(&long).as_deref(), Some("the question is broad: it has more than 40 words"));
}

#[test]
fn a_long_question_is_not_narrow() {
    let question = format!("How many ferries {}", "call at the port of the northern coast ".repeat(3));
    assert_eq!(class_of(&question), "-");
}

#[test]
fn without_classes_there_is_none() {
    assert_eq!(RuleClassifier.classify("How many?", &[]), None);
    let other = [class("brief", Some(QuestionKind::Broad), &[])];
    assert_eq!(RuleClassifier.classify("How many?", &other), None);
    // Phrases of nothing but stars fit nothing.
    assert_eq!(RuleClassifier.classify("x", &[class("all", None, &["*", " ", ""])]), None);
}

#[test]
fn narrow_is_what_surely_asks_for_one_fact() {
    for question in [
        "How many people live in Norway?",
        "What's the population of Uruguay?",
        "What’s the population of Uruguay?",
        "Population of Uruguay",
        "population of Uruguay in 2023",
        "What is the maximum range of the N60?",
        "What is the current average price of a ferry?",
        "How much does the N60 cost?",
        "How tall is the tower?",
        "Who wrote the harbour report?",
        "Where is Aldmoor?",
        "When was the harbour opened?",
        "In which year was the harbour opened?",
    ] {
        assert_eq!(kind_of(question).map(|(kind, _)| kind), Some(QuestionKind::Narrow), "{question}");
    }
    for question in [
        "What is the case for a carbon price?",
        "What is the relationship between inflation and the size of government?",
        "What is the evidence that screen time changes children of school age?",
        "Where is AI regulation heading?",
        "When is a contract void under German law?",
        "Who is liable when an autonomous car crashes?",
        "How much does sleep matter for learning?",
        "What is the role of price in the choice of a ferry?",
        "What is the best way to name a ship?",
        "Who is winning the race for electric ferries?",
        "When did trade begin to change Europe, and how?",
        "How many should there be?",
        "Population growth",
        "Price of",
        "What is the number theory behind it?",
        "Tell me how many ports there are",
    ] {
        assert_ne!(kind_of(question).map(|(kind, _)| kind), Some(QuestionKind::Narrow), "{question}");
    }
}

#[test]
fn a_long_question_of_many_gaps_is_read() {
    let phrase = "a * ".repeat(50);
    let classes = [class("x", None, &[&phrase])];
    let question = "a ".repeat(1_000);
    assert!(RuleClassifier.classify(&question, &classes).is_some());
}
