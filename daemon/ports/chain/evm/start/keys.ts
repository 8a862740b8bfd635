import { open, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bytesToHex } from '@noble/hashes/utils.js'
import { decryptKey, encryptKey, isEncryptedKey } from '../../../../../src/core/encrypted-key.ts'
import { AppError, errnoOf } from '../../../../../src/core/error.ts'
import { makeFolder } from '../../../../../src/core/folder.ts'
import type { Hex, Wallet } from '../../../../../src/core/hex.ts'
import type { ChainSetup } from '../../../../../src/model/payment.ts'
import { StoreLocked } from '../../../../store/errors.ts'
import type { Store } from '../../../../store/port.ts'
import type { Log } from '../../../log.ts'
import type { ChainMode } from '../../chain.ts'
import { type ExternalSigner, openExternalSigner, type SignerRole } from '../../external-signer.ts'
import { openKey, type Signer } from '../../key.ts'
import type { Recover } from '../../signature.ts'

export type Undo = (undo: () => Promise<void> | void) => void

export type EvmStart = {
  readonly store: Store
  readonly mode: Exclude<ChainMode, 'sandbox'>
  readonly setup: ChainSetup
  readonly dataDir: string
  readonly entropy: (bytes: number) => Uint8Array
  readonly wall: () => number
  readonly recover: Recover
  readonly log: Log
  /** Set by the start itself: what ends with the chain. */
  readonly onClose?: Undo
  /** Locks a name within a folder. @throws StoreLocked */
  readonly takeNamedLock: (folder: string, name: string) => { readonly release: () => void }
}

/** Folder in the data folder that holds a devnet and its keys. */
export const CHAIN_FOLDER = 'chain'
const PRIVATE_MODE = 0o600
const OTHERS = 0o077
const KEY_BYTES = 32
const MAX_KEY_FILE_BYTES = 4_096

type KnownKey = { readonly owner?: Wallet | undefined; readonly passphrase?: string | undefined }

/**
 * Reads a key file that only its owner may read.
 * @param flag - the option that named the file
 * @param known.owner - the address that the key must have
 * @param known.passphrase - of an encrypted file
 * @throws AppError about the file, never its content; `unauthorized` for a wrong passphrase
 */
export async function keyIn(file: string, flag: string, known: KnownKey = {}): Promise<Signer> {
  const { owner, passphrase } = known
  const refused = (why: string) => new AppError('invalid_request', `${flag} ${file} ${why}.`)
  const { mode, size } = await stat(file).catch((error: unknown) => {
    const key = owner === undefined ? 'give a file with a private key' : `put the key of ${owner} there`
    throw refused(`cannot be read (${errnoOf(error) ?? 'it fails'}): ${key}`)
  })
  if (process.platform !== 'win32' && (mode & OTHERS) !== 0) {
    throw refused(`is readable by other users: chmod 600 ${file}, and use a new key if someone may have copied it`)
  }
  if (size > MAX_KEY_FILE_BYTES) throw refused('must contain exactly one key')
  try {
    const text = await readFile(file, 'utf8')
    if (!isEncryptedKey(text)) return await openKey(text)
    if (passphrase !== undefined) return await openKey(await decryptKey(text, passphrase, file))
    throw refused('is encrypted: give its passphrase in a terminal, or with --passphrase-fd')
  } catch (error) {
    if (error instanceof RangeError) throw refused(`contains no key: ${error.message}`)
    throw error
  }
}

/** A key of this installation, generated on first use. With a passphrase, its file is encrypted. */
export async function ownKey(
  file: string,
  entropy: (bytes: number) => Uint8Array,
  passphrase?: string,
): Promise<Signer> {
  makeFolder(dirname(file))
  try {
    await using handle = await open(file, 'wx', PRIVATE_MODE)
    const key: Hex = `0x${bytesToHex(entropy(KEY_BYTES))}`
    await handle.writeFile(passphrase === undefined ? `${key}\n` : await encryptKey(key, passphrase))
    await handle.sync()
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
  }
  return keyIn(file, 'The key', { passphrase })
}

/** A key that the configured signer has. */
export function externalSigner(start: EvmStart, role: SignerRole, address: Wallet): ExternalSigner {
  const { setup, recover, wall } = start
  if (setup.signer === undefined) {
    throw new AppError('invalid_request', `The key of ${address} lies with a signer: name it with --signer.`)
  }
  const signer = openExternalSigner({ target: setup.signer, role, address, recover, wall })
  start.onClose?.(signer.close)
  return signer
}

/** A key that is new to the data folder has to work. Later its signer may fail, and is waited for. */
export async function refuseFailing(signer: Signer): Promise<void> {
  await signer.check?.()
  const fault = signer.fault?.()
  if (fault !== undefined) throw new AppError('invalid_request', `${fault} Nothing was started.`)
}

const locked = new WeakMap<Store, Set<Wallet>>()

/** Locks a gas key on this machine until the end, because two daemons that use one key would conflict. @throws AppError */
export function lockGasKey({ store, takeNamedLock, onClose }: EvmStart, key: Wallet): void {
  const own = locked.get(store) ?? new Set()
  locked.set(store, own)
  if (own.has(key)) return
  try {
    const lock = takeNamedLock(join(tmpdir(), `souk-gas-${process.getuid?.() ?? 'user'}`), key)
    own.add(key)
    onClose?.(() => {
      own.delete(key)
      lock.release()
    })
  } catch (error) {
    if (!(error instanceof StoreLocked)) throw error
    throw new AppError('conflict', `Another daemon uses the gas key ${key}: stop it, or use another --gas-key-file.`)
  }
}
