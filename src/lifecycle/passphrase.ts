import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandContext } from '../cli/command.ts'
import { usage } from '../cli/exit.ts'
import { readText } from '../client/files.ts'
import { isEncryptedKey } from '../core/encrypted-key.ts'
import type { Launch } from './launch.ts'

type Host = Pick<CommandContext<unknown, unknown>, 'places' | 'io' | 'system'> & {
  readonly passphrase?: string | undefined
}
type Keys = Pick<Launch, 'chain' | 'payToKeyFile' | 'gasKeyFile' | 'payToAddress' | 'gasAddress'>

/** Files with operator keys of an instance: the given ones, or a devnet's own. With an address, a signer has the key. */
export function keyFilesOf({ places }: Pick<Host, 'places'>, launch: Keys) {
  const { chain = 'sandbox', payToKeyFile, gasKeyFile, payToAddress, gasAddress } = launch
  const own = (name: string) => (chain === 'devnet' ? join(places.data, 'chain', name) : undefined)
  return [
    { role: 'gas', file: gasAddress === undefined ? (gasKeyFile ?? own('gas.key')) : undefined },
    { role: 'pay-to', file: payToAddress === undefined ? (payToKeyFile ?? own('pay-to.key')) : undefined },
  ] as const
}

/** The passphrase that this start needs; undefined if no key file is encrypted. */
export async function passphraseFor(host: Host, launch: Launch): Promise<string | undefined> {
  const isNeeded = keyFilesOf(host, launch).some(({ file }) => file !== undefined && isEncrypted(file))
  if (!isNeeded) return undefined
  const said = host.passphrase ?? saidPassphrase(host, launch)
  return said ?? host.io.ask('Passphrase of the key files:', { hidden: true, flag: '--passphrase-fd N' })
}

/** The passphrase of the option, else that of the file that the environment names. */
export function saidPassphrase({ system }: Pick<Host, 'system'>, options: Pick<Launch, 'passphraseFd'>) {
  const { SOUK_PASSPHRASE_FILE: file } = system.env
  return passphraseIn(options) ?? (file ? readText(file)?.trimEnd() : undefined)
}

export function isEncrypted(file: string): boolean {
  try {
    return isEncryptedKey(readFileSync(file, 'utf8'))
  } catch {
    return false // the start says why it cannot be read
  }
}

/** Reads the passphrase from the descriptor that the option names. @throws CliError `usage` if it cannot be read */
export function passphraseIn({ passphraseFd: fd }: Pick<Launch, 'passphraseFd'>): string | undefined {
  if (fd === undefined) return undefined
  try {
    return readFileSync(fd, 'utf8').replace(/\r?\n$/, '')
  } catch {
    throw usage(`--passphrase-fd ${fd} cannot be read: open it, for example with ${fd}<FILE at the end of the command.`)
  }
}
