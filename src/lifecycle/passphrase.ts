import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandContext } from '../cli/command.ts'
import { usage } from '../cli/exit.ts'
import { readText } from '../client/files.ts'
import { isEncryptedKey } from '../core/encrypted-key.ts'
import { attempt } from '../core/error.ts'
import type { Launch } from './launch.ts'

type Host = Pick<CommandContext<unknown, unknown>, 'places' | 'io' | 'system'> & {
  readonly passphrase?: string | undefined
}
type Keys = Pick<Launch, 'chain' | 'payToKeyFile' | 'gasKeyFile' | 'payToAddress' | 'gasAddress'>

type KeyFile = { readonly role: 'gas' | 'pay-to'; readonly file: string | undefined }

/**
 * Files with operator keys of an instance: the given ones, or a devnet's own, of each role the current one last. With an
 * address, a signer has the key.
 */
export function keyFilesOf({ places }: Pick<Host, 'places'>, launch: Keys): readonly KeyFile[] {
  const { chain = 'sandbox', payToKeyFile, gasKeyFile, payToAddress, gasAddress } = launch
  const folder = join(places.data, 'chain')
  const own = (role: KeyFile['role']) => (chain === 'devnet' ? devnetFiles(folder, role) : [undefined])
  const files = (role: KeyFile['role'], address: string | undefined, given: string | undefined) => {
    const known = given === undefined ? own(role) : [given]
    return (address === undefined ? known : [undefined]).map((file) => ({ role, file }))
  }
  return [...files('gas', gasAddress, gasKeyFile), ...files('pay-to', payToAddress, payToKeyFile)]
}

/** The first key, then those that replaced it (`pay-to-2.key`, …). */
function devnetFiles(folder: string, role: KeyFile['role']): string[] {
  const numberIn = (name: string) => Number(new RegExp(`^${role}-(\\d+)\\.key$`).exec(name)?.[1])
  const later = (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => numberIn(name) > 1)
    .sort((a, b) => numberIn(a) - numberIn(b))
  return [`${role}.key`, ...later].map((name) => join(folder, name))
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
  return attempt(() => isEncryptedKey(readFileSync(file, 'utf8'))) ?? false // the start says why it cannot be read
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
