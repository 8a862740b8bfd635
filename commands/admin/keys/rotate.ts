import { resolve } from 'node:path'
import type { WireAnswer } from '../../../src/api/index.ts'
import { andJson, defineCall } from '../../../src/cli/command.ts'
import { type Column, printRows } from '../../../src/cli/output.ts'
import * as z from '../../../src/cli/params.ts'
import { compact } from '../../../src/core/record.ts'
import { keyRoles } from '../../../src/model/payment.ts'
import { cyan, yellow } from '../../../src/text/text.ts'

const [role] = keyRoles

const columns: readonly Column<WireAnswer<'rotateOperatorKey'>['keys'][number]>[] = [
  { title: 'KEY', value: ({ address }) => address },
  { title: 'STATE', value: ({ state, leaked }) => (leaked ? `${state}, leaked` : state) },
  { title: 'HOLDS', value: ({ holds }) => `$${holds}`, align: 'right' },
  { title: 'OWES', value: ({ owes }) => `$${owes}`, align: 'right' },
  { title: 'ESCROW', value: ({ escrow }) => `$${escrow}`, align: 'right' },
  { title: 'SWEPT', value: ({ swept }) => `$${swept}`, align: 'right' },
  { title: 'NEXT', value: ({ next, next_at: at }) => (at === null ? next : `${next} (${at})`), flexible: true },
]

export const adminKeysRotate = defineCall({
  name: 'admin keys rotate',
  summary: 'replace a key of the operator while the marketplace runs',
  description:
    'The new address is quoted from now on. Payments for the old one are taken while their quotes last, its escrow jobs end where they are, and what it receives is moved to the new one. Run it again to see how far it is: only one rotation of a role is under way. With --leaked the marketplace pauses, the money is moved first, and old quotes end at once. Needs the admin key of the instance.',
  options: z.object({
    role: z.choice(['pay-to'], { description: 'key to replace (default: pay-to)', value: 'role' }),
    keyFile: z.text({ description: 'new key, on the machine of the daemon (a devnet makes its own)', value: 'file' }),
    replaces: z.text({ description: 'address to replace (default: the current key)', value: 'address' }),
    leaked: z.flag({ description: 'others have the key: pause, and move its money first' }),
    reason: z.text({ description: 'reason, saved in the log', value: 'text' }),
  }),
  asks: 'rotateOperatorKey',
  examples: [...andJson('souk admin keys rotate --role pay-to --yes'), 'souk admin keys rotate --leaked --yes'],
  asked({ options }) {
    const { keyFile, replaces, leaked, reason } = options
    const key_file = keyFile && resolve(keyFile)
    return { body: { role, ...compact({ key_file, replaces, leaked: leaked || undefined, reason }) } }
  },
  confirms: ({ options: { leaked } }, { target }) =>
    `Replace the pay-to key of ${target.name}${leaked ? ', and pause all payments' : ''}?`,
  rows: ({ keys }) => keys,
  columns,
  view({ keys, paused, todo }, io) {
    if (keys.length === 0) return io.line('no keys: a sandbox has none to rotate')
    printRows(io, columns, keys)
    if (paused) io.line(`${yellow('!')} payments are paused`)
    for (const one of todo) io.note(`  left to you  ${cyan(one)}`)
  },
})
