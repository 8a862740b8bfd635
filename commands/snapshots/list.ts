import { defineCommand } from '../../src/cli/command.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import { listSnapshots, type Snapshot } from '../../src/lifecycle/snapshots.ts'
import { byteSize, cyan } from '../../src/text/text.ts'

const columns: readonly Column<Snapshot>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'SAVED', value: ({ saved_at }) => saved_at },
  { title: 'SIZE', value: (row) => byteSize(row.size_bytes), plain: (row) => row.size_bytes, align: 'right' },
]

export const command = defineCommand({
  name: 'snapshots list',
  summary: 'list saved copies of the local data, newest first',
  examples: ['souk snapshots list', 'souk snapshots list --json'],
  async run(context) {
    const snapshots = listSnapshots(context)
    return { total: snapshots.length, snapshots }
  },
  rows: ({ snapshots }) => snapshots,
  columns,
  view({ snapshots }, io) {
    printRows(io, columns, snapshots)
    if (snapshots.length === 0) io.note(`there is none yet: ${cyan(io.hint('souk snapshots save NAME'))}`)
  },
})
