//! The codes of mistakes, each with its help page.

macro_rules! codes {
    ($($name:ident = $code:literal: $meaning:literal,)*) => {
        /// Every code with what it means, for people who look one up.
        pub const CODES: &[(&str, &str)] = &[$(($code, $meaning)),*];

        /// The help page of every code. A code without a page does not compile.
        pub(super) const PAGES: &[(&str, &str)] =
            &[$(($code, include_str!(concat!("../../../../docs/diagnostics/", $code, ".md")))),*];

        /// The codes by name.
        pub(crate) mod code {
            $(pub(crate) const $name: &str = $code;)*
        }
    };
}

codes! {
    SYNTAX = "DG0001": "The text is not valid YAML or JSON.",
    DUPLICATE_KEY = "DG0002": "A key stands twice in one mapping.",
    TAG = "DG0003": "A YAML tag.",
    ANCHOR = "DG0004": "A YAML anchor or alias.",
    DOCUMENTS = "DG0005": "More than one YAML document.",
    EMPTY = "DG0006": "The file is empty.",
    TOO_DEEP = "DG0007": "Nested too deep.",
    TOO_LARGE = "DG0008": "The file, a type or an expression is too large.",
    TAB = "DG0009": "A tab in the indentation.",
    NO_FILE = "DG0010": "A file can not be read.",
    BAD_PATH = "DG0011": "A path that leads out of the graph file's folder, or is none.",
    NOT_BOOLEAN = "DG0012": "Another word where true or false is wanted.",
    MERGE_KEY = "DG0013": "A YAML merge key.",
    NO_GRAPH = "DG0014": "A file that is called and is no graph.",
    WRONG_KIND = "DG0101": "Something else is wanted here: text, a list, a mapping.",
    MISSING_KEY = "DG0102": "A key is missing.",
    UNKNOWN_KEY = "DG0103": "An unknown key.",
    NOT_BUILT = "DG0104": "Part of the language, but not built yet.",
    CONFLICT = "DG0105": "Keys that do not go together.",
    BAD_VALUE = "DG0106": "A value that is not allowed here.",
    BAD_NAME = "DG0107": "A name with characters that names do not have.",
    RESERVED = "DG0108": "A name that is reserved or built in.",
    TAKEN = "DG0109": "A name that is given twice.",
    OUT_OF_RANGE = "DG0110": "A number out of its range.",
    UNKNOWN_CHANNEL = "DG0201": "An unknown channel.",
    UNKNOWN_NODE = "DG0202": "An unknown node.",
    UNKNOWN_TOOL = "DG0203": "An unknown tool.",
    UNKNOWN_LIMIT = "DG0204": "An unknown limit.",
    UNKNOWN_CONFIG = "DG0205": "A config key that this graph does not declare.",
    UNKNOWN_TYPE = "DG0206": "An unknown type.",
    UNKNOWN_REDUCER = "DG0207": "An unknown reducer.",
    UNKNOWN_CALLEE = "DG0208": "An unknown graph or op.",
    UNKNOWN_EXIT = "DG0209": "An unknown exit.",
    UNKNOWN_COUNTED = "DG0210": "An unknown meter, tool or node to count.",
    UNKNOWN_TARGET = "DG0211": "A route to `next` or `inherit`, which is not known in this place.",
    UNKNOWN_NAME = "DG0301": "An unknown name in an expression.",
    UNKNOWN_FIELD = "DG0302": "A field that the record does not have.",
    UNKNOWN_FILTER = "DG0303": "An unknown filter.",
    UNKNOWN_TEST = "DG0304": "An unknown test.",
    UNKNOWN_FUNCTION = "DG0305": "An unknown function or method.",
    MISPLACED = "DG0306": "A variable that is not known in this place.",
    EXPRESSION = "DG0307": "An expression or template that can not be read.",
    TEMPLATE = "DG0308": "A template where a bare expression is wanted.",
    NEVER_EQUAL = "DG0309": "A comparison with a text that the value never has.",
    MISMATCH = "DG0401": "A value of another type.",
    BAD_DEFAULT = "DG0402": "A default that does not fit its own type.",
    MISSING_INPUT = "DG0403": "A required input is not given.",
    UNKNOWN_INPUT = "DG0404": "An input that the callee does not have.",
    CONFIG_DIFFERS = "DG0405": "One config key, declared differently in two graphs.",
    REDUCER = "DG0406": "A reducer that does not fit the channel's type.",
    UNREACHABLE = "DG0501": "A node that nothing leads to.",
    NO_WAY_OUT = "DG0502": "No way out.",
    NEVER_TAKEN = "DG0503": "A way that is never taken.",
    ENDLESS = "DG0504": "A cycle that no limit cuts.",
    TWO_WRITERS = "DG0505": "Two writers of one channel in one super-step.",
    SHARED_STAGE = "DG0506": "A node both in the main part and in the stage of `finally`.",
    NOT_MODEL = "DG0507": "Not a model node that offers tools.",
    UNUSED = "DG0508": "Declared and never used.",
    MAY_HOLD_NOWHERE = "DG0509": "A list of ways of which perhaps none holds.",
    SELF_LIMIT = "DG0510": "A limit that leads to what it counts.",
    NEVER_WRITTEN = "DG0511": "An output that nothing writes.",
    NOT_RUN = "DG0512": "A model node whose tool calls nothing runs.",
    NO_WAYS = "DG0513": "A route without a way.",
    LAST_STAYS = "DG0514": "Two calls of one turn that write one channel.",
    UNBOUNDED = "DG0515": "A graph that calls itself, and no limit bounds how deep.",
    NEVER_COMES = "DG0516": "A node in `after` that does not lead there, or perhaps not.",
    NOT_ASKED = "DG0517": "A set of tools that is known only when its server is asked.",
    TOO_MANY = "DG0901": "There are more mistakes than are shown.",
}
