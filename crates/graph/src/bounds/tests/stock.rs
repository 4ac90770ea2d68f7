//! The stock graphs.

use super::*;

fn iterations(n: i64) -> Bounds {
    under(&stock_graph("deep_research"), &[("max_researcher_iterations", Value::Int(n))])
}

#[test]
fn deep_research_is_bounded_by_its_iterations() {
    for n in [1, 3, 6] {
        let bounds = iterations(n);
        let n = u64::try_from(n).expect("it is positive");
        println!("{}", serde_json::to_string_pretty(&bounds).unwrap());
        // At most `n` calls of the supervisor count, and at most five researchers start in one turn.
        assert_eq!(instances(&bounds, "researcher"), format!("{n} in all, {} at once", n.min(5)));
        assert_eq!(instances(&bounds, "supervisor"), "1 in all, 1 at once");
    }
}
