import { andJson, defineCall } from '../../src/cli/command.ts'
import { listCommand } from '../../src/cli/nouns/lists.ts'
import * as z from '../../src/cli/params.ts'
import * as column from '../../src/nouns/columns.ts'
import { listing } from '../../src/nouns/noun.ts'
import { green } from '../../src/text/text.ts'

export const adminSdnAdd = defineCall({
  name: 'admin sdn add',
  summary: 'block a wallet that is not on the sanctions list',
  description: 'Needs the admin key of the instance. The action is logged with its reason.',
  args: z.object({ wallet: z.string().meta({ description: 'wallet address' }) }),
  options: z.object({ reason: z.string().meta({ description: 'why', value: 'text' }) }),
  examples: andJson('souk admin sdn add 0x00000000000000000000000000000000000000aa --reason "a court order"'),
  asks: 'addSanction',
  asked: (context) => ({ body: { wallet: context.args.wallet, reason: context.options.reason } }),
  view: ({ wallet, changed }, io) =>
    io.line(`${green('✓')} ${wallet} ${changed ? 'is now blocked' : 'was already blocked'}`),
})

const sanctions = listing({
  list: 'listSanctions',
  rows: 'wallets',
  none: 'no such wallet',
  columns: [
    column.id('WALLET', ({ wallet }) => wallet),
    column.word('BY', ({ listed, manual }) => [...(listed ? ['list'] : []), ...(manual ? ['hand'] : [])].join(', ')),
    column.time('SINCE', ({ since }) => since, { drop: 1 }),
    column.name('WHY', ({ reason }) => reason, { drop: 2 }),
  ],
})

export const adminSdnList = listCommand(sanctions, {
  name: 'admin sdn list',
  summary: 'list the sanctioned wallets',
  description: 'Needs the admin key of the instance.',
  options: { manual: z.flag({ description: 'only wallets added by hand' }) },
  examples: ['souk admin sdn list', 'souk admin sdn list --manual --json'],
})

export const adminSdnRemove = defineCall({
  name: 'admin sdn remove',
  summary: 'unblock a wallet that was added by hand',
  description: 'Needs the admin key of the instance. Withheld payouts are paid with the next run.',
  args: z.object({ wallet: z.string().meta({ description: 'wallet address' }) }),
  examples: andJson('souk admin sdn remove 0x00000000000000000000000000000000000000aa --dry-run'),
  asks: 'removeSanction',
  view: ({ wallet, sanctioned }, io) =>
    io.line(`${green('✓')} ${wallet} ${sanctioned ? 'is still on the sanctions list' : 'is no longer blocked'}`),
})
