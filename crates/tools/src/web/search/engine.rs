//! The search engines that are known, and what each is like.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A search engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Tavily: the web, by key.
    Tavily,
    /// Brave: the web, by key.
    Brave,
    /// Exa: the web, by key.
    Exa,
    /// Serper: the web as Google has it, by key.
    Serper,
    /// A SearXNG server of one's own: what it is set to ask.
    Searxng,
    /// Wikipedia, in the language of the query.
    Wikipedia,
    /// OpenAlex: scholarly works of all fields.
    Openalex,
    /// arXiv: preprints of physics, mathematics, computer science and near them.
    Arxiv,
    /// PubMed: medicine and the life sciences.
    Pubmed,
    /// Crossref: works that have a DOI.
    Crossref,
}

/// What an engine needs before it can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// Nothing.
    Nothing,
    /// Nothing, but it allows more with the key in this variable.
    KeyForMore(&'static str),
    /// The key in this variable.
    Key(&'static str),
    /// Its address, in the settings or in this variable.
    Address(&'static str),
}

/// What an engine is like.
pub(super) struct Traits {
    pub(super) needs: Needs,
    /// Where it is asked; `{language}` stands for the language of the query.
    pub(super) base_url: &'static str,
    /// The least time between two requests, by its rules or as good manners have it.
    pub(super) gap: Duration,
    /// The most results that it gives to one request.
    pub(super) most_results: usize,
    /// The most characters of a query that it takes.
    pub(super) most_chars: usize,
    /// The hosts of all of its results; empty: any.
    pub(super) hosts: &'static [&'static str],
    /// Whether its results are in English but for a few.
    pub(super) is_english: bool,
}

impl Engine {
    /// All engines, in the order in which they are asked where nothing is said.
    pub const ALL: [Engine; 10] = [
        Engine::Tavily,
        Engine::Brave,
        Engine::Exa,
        Engine::Serper,
        Engine::Searxng,
        Engine::Wikipedia,
        Engine::Openalex,
        Engine::Arxiv,
        Engine::Pubmed,
        Engine::Crossref,
    ];

    /// Its name, as in settings, on the command line and in answers.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Tavily => "tavily",
            Engine::Brave => "brave",
            Engine::Exa => "exa",
            Engine::Serper => "serper",
            Engine::Searxng => "searxng",
            Engine::Wikipedia => "wikipedia",
            Engine::Openalex => "openalex",
            Engine::Arxiv => "arxiv",
            Engine::Pubmed => "pubmed",
            Engine::Crossref => "crossref",
        }
    }

    /// The engine of a name.
    pub fn parse(name: &str) -> Option<Engine> {
        Engine::ALL.into_iter().find(|engine| engine.name() == name)
    }

    /// The variable with its key or its address, if it has one.
    pub fn variable(self) -> Option<&'static str> {
        match self.traits().needs {
            Needs::Nothing => None,
            Needs::KeyForMore(name) | Needs::Key(name) | Needs::Address(name) => Some(name),
        }
    }

    pub(super) fn traits(self) -> Traits {
        let web = |key, base_url, most_results, most_chars| Traits {
            needs: Needs::Key(key),
            base_url,
            gap: Duration::ZERO,
            most_results,
            most_chars,
            hosts: &[],
            is_english: false,
        };
        let free = |base_url, gap_ms, most_chars| Traits {
            needs: Needs::Nothing,
            base_url,
            gap: Duration::from_millis(gap_ms),
            most_results: 50,
            most_chars,
            hosts: &[],
            is_english: false,
        };
        match self {
            Engine::Tavily => web("TAVILY_API_KEY", "https://api.tavily.com", 20, 400),
            // One request a second is what its smallest plan allows.
            Engine::Brave => Traits {
                gap: Duration::from_millis(1_000),
                ..web("BRAVE_API_KEY", "https://api.search.brave.com", 20, 400)
            },
            Engine::Exa => Traits {
                gap: Duration::from_millis(100),
                ..web("EXA_API_KEY", "https://api.exa.ai", 100, 1_000)
            },
            // More than ten results cost two requests.
            Engine::Serper => web("SERPER_API_KEY", "https://google.serper.dev", 10, 1_000),
            Engine::Searxng => Traits { needs: Needs::Address("SEARXNG_URL"), ..free("", 1_000, 1_000) },
            Engine::Wikipedia => {
                Traits { hosts: &["wikipedia.org"], ..free("https://{language}.wikipedia.org", 200, 300) }
            }
            Engine::Openalex => Traits {
                needs: Needs::KeyForMore("OPENALEX_API_KEY"),
                ..free("https://api.openalex.org", 200, 1_000)
            },
            Engine::Arxiv => Traits {
                hosts: &["arxiv.org"],
                is_english: true,
                ..free("https://export.arxiv.org", 3_000, 1_000)
            },
            Engine::Pubmed => Traits {
                needs: Needs::KeyForMore("NCBI_API_KEY"),
                hosts: &["pubmed.ncbi.nlm.nih.gov"],
                ..free("https://eutils.ncbi.nlm.nih.gov", 340, 1_000)
            },
            Engine::Crossref => free("https://api.crossref.org", 1_000, 1_000),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
