import type { Request } from '../src/api/endpoint/define.ts'
import type { Api } from '../src/api/index.ts'
import { ownId } from '../src/cli/account.ts'
import { defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import { unjudged } from '../src/cli/files/document.ts'
import { showParticipant } from '../src/cli/nouns/participants.ts'
import { readSettings } from '../src/cli/nouns/services/write.ts'
import * as z from '../src/cli/params.ts'
import { pairOf } from '../src/cli/split-words.ts'
import { pay } from '../src/cli/wallet/paying.ts'
import { keepAccount, secretsFile, webhookSecretOf } from '../src/client/secrets.ts'
import { formatPrice } from '../src/core/money.ts'
import { compact } from '../src/core/record.ts'
import { bold, cyan, green } from '../src/text/text.ts'

type Change = NonNullable<Request<Api['updateParticipant']>['body']>

export const accountEdit = defineCommand({
  name: 'account edit',
  summary: 'change your own profile',
  options: z.object({
    name: z.text({ description: 'public name', value: 'name' }),
    description: z.text({ description: 'public description', value: 'text' }),
    webhook: z.text({ description: 'URL for jobs and notifications', value: 'url' }),
    header: z.text({ description: 'secret header sent to your endpoints; "none" removes it', value: 'name=value' }),
    capability: z.list({ description: 'what you can do', value: 'word' }),
    set: z.list({ description: 'any field by name, such as webhook_url=null', value: 'field=value' }),
    listable: z.choice(['yes', 'no', 'auto'], { description: 'list you in the public directory' }),
  }),
  examples: [
    'souk account edit --description "Reads charts"',
    'souk account edit --listable yes --json',
    'souk account edit --header x-worker-key=abc123',
    `souk account edit --set 'capabilities=["charts"]'`,
  ],
  prints: 'updateParticipant',
  async run(context) {
    const { name, description, webhook, header, capability, listable, set } = context.options
    const body: Change = {
      ...unjudged<Change>(readSettings(set)),
      ...compact({ name, description, webhook_url: webhook, endpoint_header: headerIn(header) }),
      ...(capability.length === 0 ? {} : { capabilities: capability }),
      ...(listable === undefined ? {} : { listable: listable === 'auto' ? null : listable === 'yes' }),
    }
    if (Object.keys(body).length === 0) throw usage('Give at least one change, such as --description "Reads charts".')
    const session = await context.session()
    const [id, headers] = [await ownId(session), await session.ownHeaders()]
    const changed = await session.call('updateParticipant', { params: { id }, body, headers })
    keepAccount(context.places, session.target.instance, changed)
    return changed
  },
  view(profile, io) {
    showParticipant(profile, io)
    if (profile.webhook_secret !== undefined)
      io.line(`  secret    ${profile.webhook_secret}   (for webhooks; saved here)`)
  },
})

/** @throws CliError usage */
function headerIn(text: string | undefined): { name: string; value: string } | null | undefined {
  if (text === undefined) return undefined
  if (text === 'none') return null
  const [name, value] = pairOf(text, '--header must be like x-worker-key=abc123, or none.')
  return { name, value }
}

const FIRST_WALLET = 'main'

export const accountRegister = defineCommand({
  name: 'account register',
  summary: 'register the wallet as agent, provider or both',
  pays: 'register',
  description:
    'The payment proves that you own the wallet. Prints the API key and the webhook secret, and saves them in a private file. They are shown here once.',
  options: z.object({
    name: z.text({ description: 'public name (default: wallet name)', value: 'name' }),
    role: z.enum(['agent', 'provider', 'both']).default('agent').meta({ description: 'role' }),
    description: z.text({ description: 'public description', value: 'text' }),
    webhook: z.text({ description: 'URL for jobs and notifications', value: 'url' }),
    referralCode: z.text({ description: 'referral code of your referrer', value: 'code' }),
  }),
  examples: ['souk account register --name "Ada\'s tools"', 'souk account register --role provider --json'],
  async run(context) {
    const { role, description, webhook, referralCode } = context.options
    const session = await context.session()
    const name = context.options.name ?? (await session.wallet())?.name ?? FIRST_WALLET
    const { answer: registered, payment } = await pay(context, session, {
      endpoint: 'register',
      asked: {
        body: { name, type: role, ...compact({ description, webhook_url: webhook, referral_code: referralCode }) },
      },
    })
    keepAccount(context.places, session.target.instance, registered)
    return { ...registered, name, paid: formatPrice(payment.amount), kept_in: secretsFile(context.places) }
  },
  view(account, io) {
    const { participant_id: id, name, type, paid, wallet, api_key: key, webhook_secret: secret } = account
    io.line(`${green('✓')} ${bold(name)}   ${id} registered as ${type}   paid ${paid}`)
    io.line(`  wallet          ${wallet}`)
    if (key !== null) io.line(`  API key         ${key}`)
    if (secret !== null) io.line(`  webhook secret  ${secret}`)
    io.line(`  both are saved in ${io.path(account.kept_in)}, readable only by you`)
    const next = ['souk balance deposit 1.00', 'souk services create --file listing.json', 'souk webhooks secret']
    io.note(`  next      ${next.map((line) => cyan(io.hint(line))).join('    ')}`)
  },
})

export const accountRotateKey = defineCommand({
  name: 'account rotate-key',
  summary: 'replace your API key; the old one stops working immediately',
  examples: ['souk account rotate-key', 'souk account rotate-key --json'],
  prints: 'rotateKey',
  async run(context) {
    const session = await context.session()
    const { answer: rotated } = await pay(context, session, { endpoint: 'rotateKey', asked: {} })
    keepAccount(context.places, session.target.instance, rotated)
    return rotated
  },
  view: ({ participant_id: id }, io) =>
    io.line(`${green('✓')} ${id} has a new API key, saved for this wallet and instance`),
})

export const accountShow = defineCommand({
  name: 'account show',
  summary: 'show your own profile',
  examples: ['souk account show', 'souk account show --json'],
  async run(context) {
    const session = await context.session()
    const headers = await session.ownHeaders()
    const profile = await session.call('getParticipant', { params: { id: await ownId(session) }, headers })
    const { instance } = session.target
    const secret = webhookSecretOf(context.places, instance, profile.wallet)
    const kept = [headers['x-api-key'], secret].map((one) => (one === undefined ? null : masked(one)))
    return { ...profile, api_key: kept[0] ?? null, webhook_secret: kept[1] ?? null }
  },
  view(profile, io) {
    showParticipant(profile, io)
    io.line(`  API key   ${profile.api_key ?? 'not saved here'}`)
    io.line(`  secret    ${profile.webhook_secret ?? 'not saved here'}   (for webhooks)`)
    const line = profile.webhook_secret === null ? 'souk webhooks secret --rotate' : 'souk webhooks secret'
    io.note(`  next: ${cyan(io.hint(line))}`)
  },
})

const SHOWN_CHARS = 9

function masked(secret: string): string {
  return `${secret.slice(0, SHOWN_CHARS)}…${secret.slice(-3)}`
}
