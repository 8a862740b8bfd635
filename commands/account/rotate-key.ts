import { defineCommand } from '../../src/cli/command.ts'
import { pay } from '../../src/cli/wallet/paying.ts'
import { keepAccount } from '../../src/client/secrets.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'account rotate-key',
  summary: 'replace your API key; the old one stops working immediately ($0.001)',
  examples: ['souk account rotate-key', 'souk account rotate-key --json'],
  prints: 'rotateKey',
  async run(context) {
    const session = await context.session()
    const { answer: rotated } = await pay(context, session, {
      endpoint: 'rotateKey',
      asked: {},
    })
    keepAccount(context.places, session.target.instance, rotated)
    return rotated
  },
  view: ({ participant_id: id }, io) =>
    io.line(`${green('✓')} ${id} has a new API key, kept for this wallet and instance`),
})
