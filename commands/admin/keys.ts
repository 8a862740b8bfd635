import { closeSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { andJson, defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { askTwice } from '../../src/cli/io.ts'
import type { Column } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { PASSPHRASE_CHARS_MIN } from '../../src/client/wallets.ts'
import { decryptKey, encryptKey } from '../../src/core/encrypted-key.ts'
import { toBytes32 } from '../../src/core/hex.ts'
import { readSigner } from '../../src/core/signer-target.ts'
import { lastLaunchOf, launchOptions } from '../../src/lifecycle/launch.ts'
import { isEncrypted, keyFilesOf, saidPassphrase } from '../../src/lifecycle/passphrase.ts'
import { bold, green } from '../../src/text/text.ts'

const PRIVATE_MODE = 0o600

type KeyPlace = {
  readonly role: 'gas' | 'pay-to'
  readonly address: string
  readonly lies: 'file' | 'encrypted file' | 'signer'
  readonly where: string
  readonly since: string | null
  readonly has: string
  readonly exposed_to: string
}

const exposures = {
  file: 'whoever reads the file or a copy of it',
  'encrypted file': 'whoever has the file and the passphrase, or the memory of the daemon',
  signer: 'whoever may use the signer',
} as const

type Place = Pick<KeyPlace, 'lies' | 'where' | 'since'>

function atSigner(signer = ''): Place {
  return { lies: 'signer', where: readSigner(signer)?.shown ?? 'none', since: null }
}

function inFile(file: string, shown: (path: string) => string): Place {
  const since = statSync(file, { throwIfNoEntry: false })?.mtime.toISOString() ?? null
  return { lies: isEncrypted(file) ? 'encrypted file' : 'file', where: shown(file), since }
}

export const adminKeysList = defineCommand({
  name: 'admin keys list',
  summary: 'list operator keys: where each lies, what it has, and who could take it',
  isDefault: true,
  examples: andJson('souk admin keys list'),
  async run(context) {
    const { places, io } = context
    const launch = lastLaunchOf(places)
    const { pay_to: payTo, gas_key: gas, books } = await (await context.session()).call('getChain', {})
    if (gas === null) return { keys: [] }
    const owned = {
      gas: { address: gas.address, has: `gas for about ${gas.payments} payments` },
      'pay-to': { address: payTo, has: books?.detail ?? 'unknown: the chain does not respond' },
    }
    const current = keyFilesOf({ places }, launch).filter(({ role }, at, all) => all[at + 1]?.role !== role)
    const keys = current.map(({ role, file }): KeyPlace => {
      const place = file === undefined ? atSigner(launch.signer) : inFile(file, io.path)
      return { role, ...owned[role], ...place, exposed_to: exposures[place.lies] }
    })
    return { keys }
  },
  rows: ({ keys }) => keys,
  columns: [
    { title: 'KEY', value: ({ role }) => role },
    { title: 'ADDRESS', value: ({ address }) => address },
    { title: 'LIES IN', value: ({ lies, where }) => `${lies} ${where}` },
    { title: 'SINCE', value: ({ since }) => since },
    { title: 'HAS', value: ({ has }) => has, drop: 1 },
    { title: 'EXPOSED TO', value: ({ exposed_to: to }) => to, flexible: true },
  ] satisfies readonly Column<KeyPlace>[],
  view({ keys }, io) {
    if (keys.length === 0) io.line('no keys: this marketplace settles in the sandbox')
    for (const { role, address, lies, where, since, has, exposed_to: to } of keys) {
      io.line(`${bold(role)}   ${address}`)
      io.line(`  lies in   ${lies} ${where}${since === null ? '' : `   since ${since}`}`)
      io.line(`  has       ${has}`)
      io.line(`  exposed   to ${to}`)
    }
  },
})

export const adminKeysEncrypt = defineCommand({
  name: 'admin keys encrypt',
  summary: 'encrypt the key files of the marketplace with a passphrase',
  description:
    'Writes Web3 Secret Storage files (version 3) in place of the plain ones, and overwrites the plain bytes. Copies in backups and on other disks stay as they are. Each later start asks for the passphrase; without it the keys, and their money, are lost.',
  options: z.object({
    passphraseFd: launchOptions.passphraseFd.meta({
      description: 'file descriptor with the passphrase (default: ask)',
      value: 'n',
    }),
  }),
  examples: ['souk admin keys encrypt', 'souk admin keys encrypt --json'],
  async run({ options, places, io, globals, system }) {
    const files = keyFilesOf({ places }, lastLaunchOf(places)).flatMap(({ file }) => (file === undefined ? [] : [file]))
    const plain = files.filter((file) => !isEncrypted(file))
    wouldDo(globals, `encrypt ${plain.map(io.path).join(', ') || 'nothing'}`)
    const passphrase =
      plain.length === 0 ? '' : (saidPassphrase({ system }, options) ?? (await askTwice(io, '--passphrase-fd N')))
    if (plain.length > 0 && passphrase.length < PASSPHRASE_CHARS_MIN) {
      throw usage(`The passphrase needs at least ${PASSPHRASE_CHARS_MIN} characters.`)
    }
    // One passphrase opens all files of a start.
    for (const file of plain.length === 0 ? [] : files.filter(isEncrypted)) {
      await decryptKey(readFileSync(file, 'utf8'), passphrase, io.path(file))
    }
    const keys = plain.map((file) => ({ file, key: keyOf(file) }))
    for (const { file, key } of keys) replaceKey(file, await encryptKey(key, passphrase))
    return { encrypted: plain.map(io.path), already: files.length - plain.length }
  },
  view({ encrypted, already }, io) {
    if (encrypted.length + already === 0) io.line('nothing to encrypt: this marketplace has no key files')
    for (const file of encrypted) io.line(`${green('✓')} ${file} is encrypted`)
    if (already > 0) io.line(`  ${already} of the key files ${already === 1 ? 'was' : 'were'} encrypted already`)
    if (encrypted.length > 0)
      io.note('  Keep the passphrase: each start needs it. Plain copies, as in backups, are not encrypted by this.')
  },
})

function keyOf(file: string) {
  const text = readFileSync(file, 'utf8').trim()
  const key = toBytes32(text.startsWith('0x') ? text : `0x${text}`)
  if (key === undefined) throw usage(`${file} contains no private key: nothing was encrypted.`)
  return key
}

/** Replaces a file durably, and then overwrites the bytes of the old one. */
function replaceKey(file: string, text: string): void {
  const draft = `${file}.${process.pid}.tmp`
  writeDurably(openSync(draft, 'wx', PRIVATE_MODE), text)
  const old = openSync(file, 'r+')
  const zeros = '0'.repeat(readFileSync(old).length)
  renameSync(draft, file)
  writeDurably(old, zeros)
  if (process.platform !== 'win32') writeDurably(openSync(dirname(file), 'r'), '')
}

function writeDurably(file: number, text: string): void {
  try {
    if (text !== '') writeSync(file, text, 0)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
