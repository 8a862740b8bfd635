import { defineCommand } from '../../src/cli/command.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { listWallets, type NamedWallet } from '../../src/client/wallets.ts'
import { cyan } from '../../src/text/text.ts'

const columns: readonly Column<NamedWallet>[] = [
  { title: 'NAME', value: ({ name, active }) => `${active ? '● ' : '  '}${name}`, plain: ({ name }) => name },
  { title: 'ADDRESS', value: ({ address }) => address },
  { title: 'KEY', value: ({ protection }) => protection },
  { title: 'ACTIVE', value: ({ active }) => (active ? 'yes' : 'no'), drop: 1 },
  { title: 'CREATED', value: ({ created_at }) => created_at, drop: 2 },
]

export const command = defineCommand({
  name: 'wallet list',
  summary: 'list the wallets of this machine',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk wallet list', 'souk wallet list --json'],
  run: async ({ places }) => {
    const wallets = listWallets(places)
    return { total: wallets.length, wallets }
  },
  rows: ({ wallets }) => wallets,
  columns,
  view({ wallets }, io) {
    printRows(io, columns, wallets)
    if (wallets.length === 0) io.note(`there is none yet: ${cyan(io.hint('souk wallet new main'))}`)
  },
})
