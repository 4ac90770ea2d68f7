use super::*;

#[test]
fn what_is_said_of_the_sources_and_of_gaps() {
    for text in [
        "No information on delivery times was found in the sources consulted.",
        "The sources do not say when the new ferries come into service.",
        "None of the documents mentions the charging time of the vessels.",
        "The two sources disagree on the range of the smaller vessel.",
        "This report covers only documents that the harbour board published.",
        "Whether the quay can carry the battery remains unclear.",
        "The delivery time of the third vessel could not be determined.",
        "Most of the available sources are secondary and several years old.",
    ] {
        assert!(is_about_sources(text), "{text}");
    }
}

#[test]
fn claims_about_the_world_are_not_about_the_sources() {
    for text in [
        "No evidence links the vaccine to autism in young children.",
        "Merchants from many European nations settled along its quays.",
        "The paper industry employs many people in the northern valleys.",
        "The research station was built by Norwegian engineers near the glacier.",
        "Renewable sources provide most electricity in the southern provinces.",
        "The harbour was known for its fish market and its pilots.",
    ] {
        assert!(!is_about_sources(text) && !is_advice(text), "{text}");
    }
}

#[test]
fn advice_says_what_to_do() {
    for text in [
        "Ask Corrigan Electric for a binding delivery date before the vote.",
        "The board should wait for the second winter trial.",
        "We recommend the smaller vessel for the northern crossing.",
        "Do not sign before the quay has been inspected.",
    ] {
        assert!(is_advice(text), "{text}");
    }
    for text in [
        "Use of the quay by private boats is common in summer.",
        "Set is a god of storms.",
        "Test results came in on Monday.",
        "The committee recommended a dose for children.",
    ] {
        assert!(!is_advice(text), "{text}");
    }
    assert!(is_apart("## Recommendations") && is_apart("Open questions") && !is_apart("Economy"));
}
