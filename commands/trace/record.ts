import type { Request } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { CliError, usage } from '../../src/cli/exit.ts'
import { DOCUMENT, readObjectFile } from '../../src/cli/files/document.ts'
import * as z from '../../src/cli/params.ts'
import type { Session } from '../../src/cli/session.ts'
import { unlock } from '../../src/cli/wallet/paying.ts'
import { isObject } from '../../src/core/json.ts'
import { bold, cyan, green } from '../../src/text/text.ts'

const MS_PER_SECOND = 1_000

type Body = Request<Api['recordTrace']>['body']

const options = z.object({
  file: z.string().meta({ short: 'f', description: `${DOCUMENT}, - for stdin`, value: 'file' }),
  sign: z.flag({ description: 'sign with the wallet, even if an API key exists' }),
})

export const command = defineCommand({
  name: 'trace record',
  summary: 'record one purchase attempt, allowed or denied',
  description:
    'The file holds the event: {"id", "at", "intent", "decision", "outcome", "source", …}. It is sent with the API key of the wallet. An unregistered wallet signs it (EIP-191) and must be the payer of the intent.',
  options,
  examples: ['souk trace record -f trace.json', 'souk trace record -f trace.json --json --fields trace_id,link'],
  prints: 'recordTrace',
  async run(context) {
    const body = bodyFrom(await readObjectFile(context.io, context.options.file, 'the event'))
    const session = await context.session()
    const key = context.options.sign ? undefined : await session.apiKey()
    const headers = key === undefined ? await signatureOver(context, session, body) : { 'x-api-key': key }
    return session.call('recordTrace', { body, headers })
  },
  view({ trace_id: id, link, link_expires_at: until }, io) {
    io.line(`${green('✓')} ${bold(id)} recorded`)
    if (link === null) io.line('  the event was already recorded; its link is shown only once')
    else io.line(`  opens once, until ${until}: ${cyan(link)}`)
  },
})

/** The request body. The file holds the event itself or {"event": …}; the instance validates it. */
function bodyFrom(document: Record<string, unknown>): Body {
  const event = isObject(document.event) ? document.event : document
  if (!isObject(event.intent)) {
    throw usage('Not an event: it lacks "intent".', { next: ["souk openapi -q '.components.schemas.TraceEvent'"] })
  }
  return { event } as Body // the instance validates the members
}

/** Headers with the payer's signature over origin, payer, body hash and time (decisions §11). */
async function signatureOver(context: CommandContext<unknown, z.output<typeof options>>, session: Session, body: Body) {
  const wallet = await session.wallet()
  if (wallet === undefined) {
    throw new CliError('auth', 'This machine has no wallet to sign the event.', { next: ['souk wallet new main'] })
  }
  const { payer } = body.event.intent
  if (typeof payer !== 'string' || payer.toLowerCase() !== wallet.address.toLowerCase()) {
    throw new CliError('auth', `Only the payer can sign this event, and wallet ${wallet.name} is not the payer.`, {
      facts: [`event.intent.payer is ${String(payer)}`, `wallet ${wallet.name} is ${wallet.address}`],
      next: ['souk wallet list', 'souk account register'],
    })
  }
  const { accountFromKey } = await import('../../src/client/pay.ts')
  const { keccak256 } = await import('../../src/core/keccak.ts')
  const account = await accountFromKey(await unlock(context, wallet))
  const timestamp = String(Math.floor(context.io.now() / MS_PER_SECOND))
  const message = [
    'souk trace v1',
    `origin: ${session.target.url}`,
    `payer: ${wallet.address}`,
    `body: ${keccak256(JSON.stringify(body))}`,
    `timestamp: ${timestamp}`,
  ].join('\n')
  // Header names are literals, since the API contract is slow to load.
  return { 'x-trace-signature': await account.signMessage({ message }), 'x-trace-timestamp': timestamp }
}
