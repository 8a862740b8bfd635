import { clientLines } from '../../api/endpoint/x402.ts'
import { pricePromises } from '../../api/price-promises.ts'
import { keysOf } from '../../core/record.ts'
import { exitMeanings, exits } from '../exit.ts'
import { globalOptions, OUTPUT_VARIABLE } from '../globals.ts'

const CODE_COLUMNS = 5
const NAME_COLUMNS = 14
const VARIABLE_COLUMNS = 22
const FLAG_COLUMNS = 27

/* Each paragraph and table row is one line here; the help wraps it. */

const options = [
  'Every command takes these options, before or after its own arguments:',
  '',
  ...globalOptions.flatMap((option) =>
    'hidden' in option ? [] : [`${option.flags.padEnd(FLAG_COLUMNS)}  ${option.summary}${choicesOf(option)}`],
  ),
  `${'-h, --help'.padEnd(FLAG_COLUMNS)}  explain the command`,
  `${'-V, --version'.padEnd(FLAG_COLUMNS)}  print the version`,
].join('\n')

function choicesOf(option: object): string {
  return 'choices' in option && Array.isArray(option.choices) ? `: ${option.choices.join(', ')}` : ''
}

const environment = [
  'Order of precedence: flag, environment variable, saved choice (souk wallet use, souk remote use, souk config set), default.',
  '',
  ...globalOptions.flatMap((option) =>
    'env' in option ? [`${option.env.padEnd(VARIABLE_COLUMNS)}like ${option.flags.split(', ').at(-1)}`] : [],
  ),
  `${OUTPUT_VARIABLE.padEnd(VARIABLE_COLUMNS)}output format without a format flag: human, json, ndjson, tsv`,
  `${'SOUK_PASSPHRASE_FILE'.padEnd(VARIABLE_COLUMNS)}file with the passphrase of encrypted wallets and key files`,
  `${'SOUK_STORE'.padEnd(VARIABLE_COLUMNS)}PostgreSQL address for the data of souk up (default: files in the data folder)`,
  `${'SOUK_NOTIFY'.padEnd(VARIABLE_COLUMNS)}targets of alarms for souk up, separated by commas (default: none)`,
  `${'SOUK_WEBHOOK_SECRET'.padEnd(VARIABLE_COLUMNS)}secret for souk webhooks verify (default: the saved one)`,
  `${'SOUK_PAGER'.padEnd(VARIABLE_COLUMNS)}pager for long output (default: $PAGER)`,
  `${'SOUK_THEME'.padEnd(VARIABLE_COLUMNS)}cockpit theme: dark, light or a skin (default: ask the terminal)`,
  `${'NO_COLOR'.padEnd(VARIABLE_COLUMNS)}any value turns colors off, like CLICOLOR=0; CLICOLOR_FORCE=1 forces them on`,
  `${'XDG_CONFIG_HOME'.padEnd(VARIABLE_COLUMNS)}wallets, remotes, settings (default: ~/.config)`,
  `${'XDG_DATA_HOME'.padEnd(VARIABLE_COLUMNS)}data of the daemon (default: ~/.local/share)`,
  `${'XDG_STATE_HOME'.padEnd(VARIABLE_COLUMNS)}log of the daemon (default: ~/.local/state)`,
  `${'XDG_RUNTIME_DIR'.padEnd(VARIABLE_COLUMNS)}registration of a running daemon (default: within XDG_STATE_HOME)`,
  `${'XDG_CACHE_HOME'.padEnd(VARIABLE_COLUMNS)}compiled code, safe to delete (default: ~/.cache)`,
].join('\n')

const formatting = [
  'On a terminal, lists are tables that fit its width. In a pipe they are complete tab-separated rows without a header. --header adds a header; --tsv prints such rows on a terminal too.',
  '',
  '--json         print one JSON value; --fields a,b.c selects fields, -q EXPR filters',
  '--ndjson       print one JSON line for each row or event',
  '--watch        repeat the command every --interval and highlight changes; with --json, print a line for each change; stop with ctrl-c (exit 130)',
  '',
  'On a terminal, output longer than the screen goes through $SOUK_PAGER or $PAGER. --no-pager turns that off.',
  '',
  'stdout carries data only. With --json, an error is one JSON object on stderr and stdout stays empty.',
  'Amounts are decimal text in USDC ("0.525"). Prices of listings have a dollar sign ("$0.525").',
  'Times are ISO 8601 in UTC. Unknown values are null.',
  '',
  '-q takes any filter of jq 1.8: https://jqlang.org/manual/v1.8. No jq need be installed.',
].join('\n')

const payments = [
  'A paid request is answered with status 402 and a price. The command line then pays it. A command pays at most --max-price in total (default: 1.00 USDC), never pays while it waits, and prints what it spent.',
  '',
  '--pay auto     from the balance if you are registered and it suffices, else by signature (default)',
  '--pay x402     by signature of the wallet: an EIP-3009 authorization for exactly the price',
  '--pay balance  from the balance only',
  '--pay none     never pay; a 402 ends with exit code 5',
  '',
  'Every payment carries an idempotency key. If the connection breaks, run the same command with the printed key: you get the result and pay once. --quote and --dry-run sign nothing.',
  'The local daemon settles in a sandbox with test money. Get some with `souk wallet fund`.',
  'Real USDC is paid only to a remote added with --network base.',
  '',
  'If a price changes between offer and payment:',
  '',
  ...pricePromises,
  '',
  'Existing x402 client packages can pay too. Some must first allow the test token. Replace 0xASSET with the asset of the 402:',
  '',
  ...clientLines(),
].join('\n')

const remotes = [
  'Commands talk to the daemon of this machine, or to a remote instance:',
  '',
  'souk remote add shop https://market.example   add an instance; saves its terms',
  'souk services list -r shop                    talk to it once',
  'souk remote use shop                          talk to it from now on',
  'souk remote use local                         go back to the local daemon',
  'souk services list --base-url https://…       talk to an address that is not saved; never pays it',
  '',
  'The remote and the wallet (--as WALLET) are independent settings.',
].join('\n')

const providerProtocol = [
  'souk provide LISTING --exec COMMAND runs the command for each job that a buyer pays for:',
  '',
  'stdin, $SOUK_JOB_FILE     the input, as JSON',
  'environment               SOUK_JOB_ID, SOUK_SERVICE_ID, SOUK_BUYER (wallet), SOUK_DEADLINE (UTC), SOUK_WORKDIR (removed afterwards)',
  'stdout                    the result: JSON, or with --deliver stdout-text {"text": the output}',
  'stderr                    a line "progress: 40 text" is shown to the buyer; other lines only with --verbose',
  'exit 0                    deliver the result; if it does not match the schema of the listing, try again',
  'exit 75                   try again later: --retries, --retry-delay (doubles each time)',
  'any other exit            fail the job and refund the buyer; the last line of stderr is the reason',
  '',
  'At the deadline, or after --timeout, the command and its child processes get SIGTERM, and SIGKILL 5 s later.',
  'A job can run again after a crash or a lost connection. It is delivered and paid once.',
  'Without this command: read GET /v1/events with a cursor, and POST to the callback_url of each job.dispatched event.',
].join('\n')

/** Texts of `souk help TOPIC`. */
export const topics: Readonly<Record<string, string>> = {
  options,
  environment,
  formatting,
  payments,
  remotes,
  'provider-protocol': providerProtocol,
  'exit-codes': keysOf(exits)
    .map((name) => `${String(exits[name]).padEnd(CODE_COLUMNS)}${name.padEnd(NAME_COLUMNS)}${exitMeanings[name]}`)
    .join('\n'),
}
