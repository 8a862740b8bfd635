import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { pay } from '../../src/cli/wallet/paying.ts'
import { keepApiKey } from '../../src/client/secrets.ts'
import { formatPrice } from '../../src/core/money.ts'
import { compact } from '../../src/core/record.ts'
import { bold, cyan, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'account register',
  summary: 'register the wallet as agent, provider or both ($0.01)',
  description: 'The payment proves the wallet. The API key is kept in a file that only you may read; it is shown once.',
  args: z.object({}),
  options: z.object({
    name: z.string().default('My agent').meta({ description: 'public name', value: 'name' }),
    role: z.enum(['agent', 'provider', 'both']).default('agent').meta({ description: 'what to register as' }),
    description: z.string().optional().meta({ description: 'public description', value: 'text' }),
    webhook: z.string().optional().meta({ description: 'where jobs and news are sent', value: 'url' }),
    referralCode: z.string().optional().meta({ description: 'who referred you', value: 'code' }),
  }),
  examples: ['souk account register --name "My agent"', 'souk account register --role provider --json'],
  async run(context) {
    const { name, role, description, webhook, referralCode } = context.options
    const session = await context.session()
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
    const { api_key: key, wallet } = registered
    if (key !== null) keepApiKey(context.places, session.target.instance, { wallet, key })
    return { ...registered, paid: formatPrice(payment.amount) }
  },
  view(account, io) {
    io.line(`${green('✓')} ${bold(account.participant_id)} registered as ${account.type}   paid ${account.paid}`)
    io.line(`  wallet    ${account.wallet}`)
    io.line('  API key   kept for this wallet and instance')
    io.note(
      `  next      ${cyan(io.hint('souk balance deposit 1.00'))}    ${cyan(io.hint('souk services create --file listing.json'))}`,
    )
  },
})
