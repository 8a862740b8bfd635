import { join } from 'node:path'
import { type CommandContext, defineCommand, type Invoked } from '../src/cli/command.ts'
import type { System } from '../src/cli/env.ts'
import { CliError } from '../src/cli/exit.ts'
import * as z from '../src/cli/params.ts'
import { publicOptions } from '../src/cli/public.ts'
import { wouldDo } from '../src/cli/session.ts'
import { isLive, registeredDaemon } from '../src/client/discover.ts'
import { currentWallet, walletNames } from '../src/client/wallets.ts'
import { isObject } from '../src/core/json.ts'
import { lastLaunch } from '../src/lifecycle/launch.ts'
import { hasStore } from '../src/lifecycle/restore.ts'
import { bold, cyan, dim, shellLine } from '../src/text/text.ts'

const SERVICE = 'qr_code'
const DATA = 'https://example.org/souk'

type Step =
  | { readonly kind: 'step'; readonly line: string }
  | { readonly kind: 'note'; readonly text: string }
  | {
      readonly kind: 'done'
      readonly line: string
      /** output of the command that the step runs; that command documents its form */
      readonly data: unknown
      show: Invoked['show']
    }
  | { readonly kind: 'next'; readonly lines: readonly (readonly [line: string, what: string])[] }

export const command = defineCommand({
  name: 'tour',
  heading: 'Daemon',
  summary: 'make a first purchase step by step: daemon, wallet, price, payment, result',
  description: 'Each step shows its command. Running it again is safe.',
  options: z.object({
    chain: z.choice(['sandbox', 'devnet'], {
      description: 'chain of a new marketplace: sandbox, or devnet, a real local chain (default: sandbox)',
    }),
    port: publicOptions.port,
  }),
  examples: ['souk tour', 'souk tour --ndjson', 'souk tour --chain devnet --instance chain --dry-run'],
  run: (context) => steps(context),
  view(step, io) {
    if (step.kind === 'step') io.line(`\n${dim('$')} ${bold(`souk ${step.line}`)}`)
    if (step.kind === 'note') io.line(`  ${step.text}`)
    if (step.kind === 'done') step.show(io)
    if (step.kind !== 'next') return
    io.line('\nThe daemon keeps running. Next:\n')
    for (const [line, what] of step.lines) io.line(`  ${cyan(io.hint(line).padEnd(NEXT_COLUMNS))} ${what}`)
    io.line()
  },
})

const NEXT_COLUMNS = 44
/** A demo user; exists only with the demo data. */
const ACME = 'acme'
const AS_ACME = [`souk jobs list --as ${ACME}`, 'the jobs of a demo user'] as const

/** The command that puts the program on the PATH; empty if it is there. A packaged binary is linked without npm. */
function onPath({ program, self }: System): readonly (readonly [line: string, what: string])[] {
  if (program === 'souk') return []
  const [file] = self
  const line = self.length === 1 ? shellLine`sudo ln -s ${file} /usr/local/bin/souk` : 'npm link'
  return [[line, 'then "souk" works in every folder']]
}

type TestChain = 'sandbox' | 'devnet'
type Context = CommandContext<unknown, { readonly chain?: TestChain | undefined; readonly port?: number | undefined }>

/** `--chain`, else the existing data's chain, else a sandbox. @throws CliError `usage` if that is no test chain */
function chainOf({ options, places }: Context): TestChain {
  if (options.chain !== undefined) return options.chain
  const { chain = 'sandbox' } = hasStore({ places }) ? lastLaunch(places) : {}
  if (chain === 'sandbox' || chain === 'devnet') return chain
  throw new CliError('usage', `The tour needs test money, but this marketplace is on ${chain}.`, {
    next: ['souk tour --instance NAME', 'souk status'],
  })
}

async function* steps(context: Context): AsyncGenerator<Step> {
  const { places, system } = context
  const chain = chainOf(context)
  wouldDo(context.globals, 'start the daemon, fund a wallet with test money and buy a QR code')
  yield* up(context, chain)
  yield* step(context, currentWallet(places) ? ['wallet', 'show'] : ['wallet', 'new', 'main'])
  yield* step(context, ['wallet', 'fund'])
  yield* step(context, ['services', 'list', '--limit', '5'])
  yield* step(context, ['buy', SERVICE, '-i', `data=${DATA}`, '--quote'])
  // The purchase is saved in a visible folder, because the state folder is hidden.
  const folder = join(system.env.HOME ?? places.state, 'souk-tour')
  const bought = yield* step(context, ['buy', SERVICE, '-i', `data=${DATA}`, '--save', folder])
  const job = isObject(bought) && typeof bought.job_id === 'string' ? bought.job_id : undefined
  if (job === undefined) throw new CliError('failure', 'The purchase returned no job.')
  yield* step(context, ['jobs', 'view', job])
  yield* step(context, ['status'])
  yield {
    kind: 'next',
    lines: [
      ['souk tui', 'the whole market on one screen'],
      ['souk attention', 'open problems, each with the command that fixes it'],
      ...(walletNames(places).includes(ACME) ? [AS_ACME] : []),
      ['souk services list', 'the whole catalog'],
      [`souk services view ${SERVICE}`, 'input and output of a service'],
      [`souk why ${job}`, 'the purchase, step by step'],
      ['souk logs -f', 'the daemon log, live'],
      ['souk api /v1/services/catalog -f limit=1', 'the catalog over HTTP'],
      ['souk help', 'everything else'],
      ['souk down', 'stop the daemon; its data stays'],
      ...onPath(system),
    ],
  }
}

/** Starts the daemon on its usual port, or on a free one if that port is taken. */
async function* up(context: Context, chain: TestChain): AsyncGenerator<Step> {
  const { places, options } = context
  const isNew = !hasStore(context) && !isLive(registeredDaemon(places))
  // The demo history needs a sandbox. An existing marketplace keeps its data, so it gets no demo history.
  const onChain = chain === 'sandbox' && options.chain === undefined ? [] : ['--chain', chain]
  const begins = isNew && chain === 'sandbox' ? ['--seed', 'demo'] : onChain
  const port = options.port === undefined ? [] : ['--port', String(options.port)]
  const usual = ['up', ...begins, ...port]
  try {
    yield* step(context, usual)
  } catch (error) {
    if (port.length > 0 || !(error instanceof CliError) || !error.next.includes('souk up --port 0')) throw error
    yield { kind: 'note', text: error.message }
    yield* step(context, [...usual, '--port', '0'])
  }
}

async function* step(
  context: CommandContext<unknown, unknown>,
  words: readonly string[],
): AsyncGenerator<Step, unknown> {
  const line = words.map((word) => context.io.path(word)).join(' ')
  yield { kind: 'step', line }
  const { data, show } = await context.invoke(words)
  yield { kind: 'done', line, data, show }
  return data
}
