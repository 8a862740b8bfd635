import { defineCommand } from '../../src/cli/command.ts'
import { type Holding, withHoldings } from '../../src/cli/nouns/wallets.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { listWallets, type NamedWallet } from '../../src/client/wallets.ts'
import { cyan } from '../../src/text/text.ts'

const columns: readonly Column<NamedWallet & Holding>[] = [
  { title: 'NAME', value: ({ name, active }) => `${active ? '● ' : '  '}${name}`, plain: ({ name }) => name },
  { title: 'ADDRESS', value: ({ address }) => address },
  { title: 'HOLDS', value: ({ holds }) => (holds === null ? null : `$${holds}`), align: 'right' },
  { title: 'KEY', value: ({ protection }) => protection },
  { title: 'ACTIVE', value: ({ active }) => (active ? 'yes' : 'no'), drop: 1 },
  { title: 'CREATED', value: ({ created_at }) => created_at, drop: 2 },
]

export const command = defineCommand({
  name: 'wallet list',
  summary: 'list the wallets of this machine and what they hold',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk wallet list', 'souk wallet list --json'],
  run: async (context) => {
    const wallets = await withHoldings(context, listWallets(context.places))
    return { total: wallets.length, wallets }
  },
  rows: ({ wallets }) => wallets,
  columns,
  view({ wallets }, io) {
    printRows(io, columns, wallets)
    if (wallets.length === 0) io.note(`there is none yet: ${cyan(io.hint('souk wallet new main'))}`)
  },
})
