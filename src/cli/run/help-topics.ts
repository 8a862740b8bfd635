import { clientLines } from '../../api/endpoint/published-clients.ts'
import { pricePromises } from '../../api/price-promises.ts'
import { keysOf } from '../../core/record.ts'
import { exitMeanings, exits } from '../exit.ts'
import { globalOptions, OUTPUT_VARIABLE } from '../globals.ts'
import { functions } from '../jq/functions.ts'

const LINE_COLUMNS = 100

/** Words, once each, in lines of a page's width. */
function lines(words: readonly string[]): string[] {
  const made = ['']
  for (const word of new Set(words)) {
    const last = made.length - 1
    if (`${made[last]} ${word}`.length > LINE_COLUMNS) made.push(word)
    else made[last] = `${made[last]} ${word}`.trim()
  }
  return made
}

const CODE_COLUMNS = 5
const NAME_COLUMNS = 14
const VARIABLE_COLUMNS = 22

const environment = [
  'Flags win over environment variables; both win over what `use` chose.',
  '',
  ...globalOptions.flatMap((option) =>
    'env' in option ? [`${option.env.padEnd(VARIABLE_COLUMNS)}like ${option.flags.split(', ').at(-1)}`] : [],
  ),
  `${OUTPUT_VARIABLE.padEnd(VARIABLE_COLUMNS)}form of data where no flag says one: human, json, ndjson, tsv`,
  `${'SOUK_PASSPHRASE_FILE'.padEnd(VARIABLE_COLUMNS)}file with the passphrase of an encrypted wallet`,
  `${'SOUK_WEBHOOK_SECRET'.padEnd(VARIABLE_COLUMNS)}secret that souk webhooks verify checks with (default: the one kept here)`,
  `${'SOUK_PAGER'.padEnd(VARIABLE_COLUMNS)}program that shows long answers (default: $PAGER)`,
  `${'SOUK_THEME'.padEnd(VARIABLE_COLUMNS)}dark or light: background of the cockpit (default: as the terminal says)`,
  `${'NO_COLOR'.padEnd(VARIABLE_COLUMNS)}any value: no colors, as CLICOLOR=0; CLICOLOR_FORCE=1 forces them`,
  `${'XDG_CONFIG_HOME'.padEnd(VARIABLE_COLUMNS)}wallets, remotes, settings (default ~/.config)`,
  `${'XDG_DATA_HOME'.padEnd(VARIABLE_COLUMNS)}the data of the daemon (default ~/.local/share)`,
  `${'XDG_STATE_HOME'.padEnd(VARIABLE_COLUMNS)}its log (default ~/.local/state)`,
  `${'XDG_RUNTIME_DIR'.padEnd(VARIABLE_COLUMNS)}its registration while it runs (default: under the state)`,
  `${'XDG_CACHE_HOME'.padEnd(VARIABLE_COLUMNS)}compiled code; may be deleted (default ~/.cache)`,
].join('\n')

const formatting = [
  'On a terminal, lists are tables that fit its width. In a pipe they are tab-separated rows, whole and without a',
  'header: --header adds one, --tsv asks for them on a terminal too.',
  '',
  '--json         everything, as one value; --fields a,b.c narrows it, -q EXPR filters it',
  '--ndjson       one line per row, or per event of what is followed',
  '--watch        where a command has it: look again every --interval, painting what changed; with --json one line',
  '               for each change; ctrl-c ends it with exit 130',
  '',
  'On a terminal an answer that is longer than the screen goes through $SOUK_PAGER, or $PAGER; --no-pager prints it.',
  '',
  'stdout carries data only. With --json an error is one object on stderr and stdout stays empty.',
  'Amounts are decimal text in USDC ("0.525"); prices of listings have a dollar sign ("$0.525").',
  'Times are ISO 8601 in UTC, unknown is null.',
  '',
  'The language of -q is a part of jq: paths .a .b[0] .[2:4] .a[] .. and ?, pipes, commas, [ ] and { } building,',
  'comparisons, and or not, + - * / %, //, if then elif else end, "text \\(.a)", @tsv @csv @json @text, and',
  ...lines(Object.keys(functions).map((name) => name.split('/')[0] ?? name)),
  'Anything else is refused by name and place, never guessed.',
].join('\n')

const payments = [
  'A paid request is answered with a 402 that names its price. The command line then pays, at most --max-price',
  'in all (1.00 unless told otherwise), never while it waits, and says what a command spent:',
  '',
  '--pay auto     from the balance where the wallet is registered and it suffices, else by signature (default)',
  '--pay x402     by a signature of the wallet: an EIP-3009 authorization for exactly the price',
  '--pay balance  from the balance only',
  '--pay none     never; a 402 is exit 5',
  '',
  'Every attempt carries an idempotency key. When a connection breaks, the same command with the key that is printed',
  'returns what was bought without paying twice. --quote and --dry-run sign nothing.',
  'The local daemon settles in a sandbox with test money: souk wallet fund gives some.',
  'Real USDC is signed for only at a remote that was added with --network base.',
  '',
  'Prices may change between the offer and the payment:',
  '',
  ...pricePromises,
  '',
  'Clients that others publish pay too; some have to be told of the test money first (0xASSET: asset of the 402):',
  '',
  ...clientLines(),
].join('\n')

const remotes = [
  'Commands talk to the daemon of this machine unless told otherwise:',
  '',
  'souk remote add shop https://market.example   add an instance; its terms are read now and kept',
  'souk services list -r shop                    talk to it once',
  'souk remote use shop                          talk to it from now on; souk remote use local goes back',
  'souk services list --base-url https://…       talk to an address that is not kept (it is never paid)',
  '',
  'Where (remote) and who (--as WALLET) are chosen apart.',
].join('\n')

const providerProtocol = [
  'souk provide LISTING --exec COMMAND runs the command for each job that is bought from you:',
  '',
  'stdin, $SOUK_JOB_FILE     the input, as JSON',
  'SOUK_JOB_ID, SOUK_SERVICE_ID, SOUK_BUYER (its wallet), SOUK_DEADLINE (UTC), SOUK_WORKDIR (removed afterwards)',
  'stdout                    what is delivered: JSON, or with --deliver stdout-text {"text": what was printed}',
  'stderr                    a line "progress: 40 text" is told to the buyer; the others show under --verbose',
  'exit 0                    delivers, as far as it is what the listing promises; else it is tried again',
  'exit 75                   asks for another try: --retries, --retry-delay (doubles)',
  'any other exit            fails the job; the last line of stderr is the reason, and the buyer is paid back',
  '',
  'At the deadline, or after --timeout, the command and all that it started get SIGTERM, and SIGKILL 5 s later.',
  'A job may be run again after a crash or a lost connection; it is delivered and paid once.',
  'Without this program the same is GET /v1/events with a cursor, and POST to the callback_url of a job.dispatched.',
].join('\n')

/** Texts of `souk help TOPIC`. */
export const topics: Readonly<Record<string, string>> = {
  environment,
  formatting,
  payments,
  remotes,
  'provider-protocol': providerProtocol,
  'exit-codes': keysOf(exits)
    .map((name) => `${String(exits[name]).padEnd(CODE_COLUMNS)}${name.padEnd(NAME_COLUMNS)}${exitMeanings[name]}`)
    .join('\n'),
}
