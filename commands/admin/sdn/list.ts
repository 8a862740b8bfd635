import { listCommand } from '../../../src/cli/nouns/lists.ts'
import * as z from '../../../src/cli/params.ts'
import { id, name, time, word } from '../../../src/nouns/columns.ts'
import { listing } from '../../../src/nouns/noun.ts'

const sanctions = listing({
  list: 'listSanctions',
  rows: 'wallets',
  none: 'no such wallet',
  columns: [
    id('WALLET', ({ wallet }) => wallet),
    word('BY', ({ listed, manual }) => [...(listed ? ['list'] : []), ...(manual ? ['hand'] : [])].join(', ')),
    time('SINCE', ({ since }) => since, { drop: 1 }),
    name('WHY', ({ reason }) => reason, { drop: 2 }),
  ],
})

export const command = listCommand(sanctions, {
  name: 'admin sdn list',
  summary: 'list the sanctioned wallets',
  description: 'Needs the admin key of the instance.',
  options: { manual: z.boolean().default(false).meta({ description: 'only wallets added by hand' }) },
  examples: ['souk admin sdn list', 'souk admin sdn list --manual --json'],
})
