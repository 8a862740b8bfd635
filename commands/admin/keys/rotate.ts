import { resolve } from 'node:path'
import type { WireAnswer } from '../../../src/api/index.ts'
import { andJson, defineCommand } from '../../../src/cli/command.ts'
import { type Column, printRows } from '../../../src/cli/output.ts'
import * as z from '../../../src/cli/params.ts'
import { PAID_ANSWER_MS } from '../../../src/client/exchange.ts'
import { compact, keysOf } from '../../../src/core/record.ts'
import { keepLaunch, lastLaunch } from '../../../src/lifecycle/launch.ts'
import { cyan, yellow } from '../../../src/text/text.ts'

const roles = { 'pay-to': 'pay_to', gas: 'gas' } as const

const columns: readonly Column<WireAnswer<'rotateOperatorKey'>['keys'][number]>[] = [
  { title: 'KEY', value: ({ address }) => address },
  { title: 'STATE', value: ({ state, leaked }) => (leaked ? `${state}, leaked` : state) },
  { title: 'HOLDS', value: ({ holds }) => `$${holds}`, align: 'right' },
  { title: 'OWES', value: ({ owes }) => `$${owes}`, align: 'right' },
  { title: 'ESCROW', value: ({ escrow }) => `$${escrow}`, align: 'right' },
  { title: 'SWEPT', value: ({ swept }) => `$${swept}`, align: 'right' },
  { title: 'NEXT', value: ({ next, next_at: at }) => (at === null ? next : `${next} (${at})`), flexible: true },
]

/** Options that say where the key of a role lies. */
const places = { 'pay-to': ['payToKeyFile', 'payToAddress'], gas: ['gasKeyFile', 'gasAddress'] } as const

export const adminKeysRotate = defineCommand({
  name: 'admin keys rotate',
  summary: 'replace a key of the operator while the marketplace runs',
  description:
    'A new pay-to address is quoted from now on. Payments for the old one are taken while their quotes last, its escrow jobs end where they are, and what it receives is moved to the new one. A new gas key gets the contracts and the ETH of the old one; purchases wait for some seconds. Run it again with --replaces and the old address to see how far it is; only one rotation of a role is under way. Once it has ended, another one begins only with --replaces and the current address. With --leaked the marketplace pauses, the money is moved first, and old quotes end at once. Needs the admin key of the instance.',
  options: z.object({
    role: z.choice(keysOf(roles), { description: 'key to replace (default: pay-to)', value: 'role' }),
    keyFile: z.text({ description: 'new key, on the machine of the daemon (a devnet makes its own)', value: 'file' }),
    address: z.text({ description: 'address of the new key, if the signer has it', value: 'address' }),
    replaces: z.text({ description: 'address to replace (default: the current key)', value: 'address' }),
    leaked: z.flag({ description: 'others have the key: pause, and move its money first' }),
    reason: z.text({ description: 'reason, saved in the log', value: 'text' }),
  }),
  prints: 'rotateOperatorKey',
  examples: [
    ...andJson('souk admin keys rotate --role pay-to --yes'),
    'souk admin keys rotate --role gas --yes',
    'souk admin keys rotate --leaked --yes',
  ],
  async run(context) {
    const { role = 'pay-to', keyFile, address, replaces, leaked, reason } = context.options
    const session = await context.session()
    const { name, dataDir } = session.target
    await context.io.confirm(`Replace the ${role} key of ${name}${leaked ? ', and pause all payments' : ''}?`)
    const file = keyFile && resolve(keyFile)
    const more = compact({ key_file: file, address, replaces, leaked: leaked || undefined, reason })
    // Its first steps are transactions, and the answer waits for them.
    const timeoutMs = context.globals.timeoutMs ?? PAID_ANSWER_MS
    const told = await session.call('rotateOperatorKey', { body: { role: roles[role], ...more }, timeoutMs })
    // A local marketplace remembers where its new key lies, for later starts and `souk admin keys list`.
    if (dataDir !== undefined && (file ?? address) !== undefined) {
      const [inFile, atSigner] = places[role]
      keepLaunch(context.places, { ...lastLaunch(context.places), [inFile]: file, [atSigner]: address })
    }
    return told
  },
  rows: ({ keys }) => keys,
  columns,
  view({ keys, paused, todo }, io) {
    if (keys.length === 0) return io.line('no keys: a sandbox has none to rotate')
    printRows(io, columns, keys)
    if (paused) io.line(`${yellow('!')} payments are paused`)
    for (const one of todo) io.note(`  left to you  ${cyan(one)}`)
  },
})
