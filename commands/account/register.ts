import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { pay } from '../../src/cli/wallet/paying.ts'
import { keepAccount, secretsFile } from '../../src/client/secrets.ts'
import { formatPrice } from '../../src/core/money.ts'
import { compact } from '../../src/core/record.ts'
import { bold, cyan, green } from '../../src/text/text.ts'

const FIRST_WALLET = 'main'

export const command = defineCommand({
  name: 'account register',
  summary: 'register the wallet as agent, provider or both ($0.01)',
  description:
    'The payment proves that you own the wallet. Prints the API key and the webhook secret, and saves them in a private file. They are shown here once.',
  options: z.object({
    name: z.string().optional().meta({ description: 'public name (default: wallet name)', value: 'name' }),
    role: z.enum(['agent', 'provider', 'both']).default('agent').meta({ description: 'role' }),
    description: z.string().optional().meta({ description: 'public description', value: 'text' }),
    webhook: z.string().optional().meta({ description: 'URL for jobs and notifications', value: 'url' }),
    referralCode: z.string().optional().meta({ description: 'referral code of who referred you', value: 'code' }),
  }),
  examples: ['souk account register --name "Ada\'s tools"', 'souk account register --role provider --json'],
  async run(context) {
    const { role, description, webhook, referralCode } = context.options
    const session = await context.session()
    const name = context.options.name ?? (await session.wallet())?.name ?? FIRST_WALLET
    const { answer: registered, payment } = await pay(context, session, {
      endpoint: 'register',
      asked: {
        body: {
          name,
          type: role,
          ...compact({ description, webhook_url: webhook, referral_code: referralCode }),
        },
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
    io.line(`  both are kept in ${io.path(account.kept_in)}, which only you may read`)
    const next = ['souk balance deposit 1.00', 'souk services create --file listing.json', 'souk webhooks secret']
    io.note(`  next      ${next.map((line) => cyan(io.hint(line))).join('    ')}`)
  },
})
