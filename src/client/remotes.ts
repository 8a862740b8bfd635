import { join } from 'node:path'
import { chainNetworks } from '../core/authorization.ts'
import { AppError, invalidField, notFound } from '../core/error.ts'
import { ADDRESS_SHAPE, toWallet, type Wallet } from '../core/hex.ts'
import { compact, keysOf } from '../core/record.ts'
import { didYouMean } from '../text/text.ts'
import type { Shaped } from './check.ts'
import { readJson, shaped, writeJson } from './files.ts'
import { originOf } from './origin.ts'
import { LOCAL, type Places } from './settings.ts'

const REMOTES_MAX = 100
const REMOTE_NAME = /^[a-z0-9][a-z0-9._-]{0,31}$/

/** Networks of a remote; real USDC is signed only for `base` (decisions §4). */
export const remoteNetworks = keysOf(chainNetworks)

const remoteShape = {
  url: 's',
  network: ['=', ...remoteNetworks],
  /** Tokens that may be paid in a sandbox or devnet, recorded when the remote was added. */
  'assets?': ['[', ['/', ADDRESS_SHAPE.source]],
  /** Fingerprint of the pinned certificate, if no trusted authority has signed it. */
  'fingerprint?': 's',
  /** Credentials may be sent over plain HTTP, but payments never. */
  'plain_credentials?': 'b',
  /** Changes at this instance must be confirmed by typing the remote's name. */
  'protected?': 'b',
} as const
const Remotes = shaped(['{', remoteShape])

type KeptRemote = Omit<Shaped<typeof remoteShape>, 'assets'> & { readonly assets?: readonly Wallet[] | undefined }
export type Remote = KeptRemote & { readonly name: string }

function fileOf(places: Pick<Places, 'config'>): string {
  return join(places.config, 'remotes.json')
}

function read(places: Pick<Places, 'config'>): Readonly<Record<string, KeptRemote>> {
  const kept = Object.entries(readJson(fileOf(places), Remotes) ?? {})
  return Object.fromEntries(
    kept.map(([name, { assets, ...remote }]) => [name, { ...remote, ...compact({ assets: assets?.map(toWallet) }) }]),
  )
}

/** Saved remotes, sorted by name. */
export function listRemotes(places: Pick<Places, 'config'>): readonly Remote[] {
  return Object.entries(read(places))
    .map(([name, remote]) => ({ name, ...remote }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** @throws AppError `not_found` that lists the remotes */
export function getRemote(places: Pick<Places, 'config'>, name: string): Remote {
  const remotes = read(places)
  const remote = Object.hasOwn(remotes, name) ? remotes[name] : undefined
  if (remote) return { name, ...remote }
  const known = [LOCAL, ...Object.keys(remotes)]
  throw new AppError(
    'not_found',
    `Remote "${name}" is not known${didYouMean(name, known)}; there are: ${known.join(', ')}.`,
  )
}

/**
 * Adds a remote, or replaces the remote with the same name and address.
 * @throws AppError `invalid_request` for a bad name or address, `conflict` if the name already has another address
 */
export function addRemote(places: Pick<Places, 'config'>, remote: Remote): Remote {
  const { name, ...rest } = remote
  if (name === LOCAL || !REMOTE_NAME.test(name)) {
    throw invalidField('name', `must be lower-case letters, digits, ".", "-" or "_", and not "${LOCAL}"`)
  }
  const remotes = read(places)
  const url = originOf(rest.url)
  const taken = remotes[name]
  if (taken && taken.url !== url)
    throw new AppError('conflict', `Remote "${name}" already exists with address ${taken.url}.`)
  if (!taken && Object.keys(remotes).length >= REMOTES_MAX) throw invalidField('name', `at most ${REMOTES_MAX} remotes`)
  writeJson(fileOf(places), { ...remotes, [name]: { ...rest, url } })
  return { name, ...rest, url }
}

export function removeRemote(places: Pick<Places, 'config'>, name: string): void {
  const { [name]: gone, ...rest } = read(places)
  if (!gone) throw notFound(`Remote "${name}"`)
  writeJson(fileOf(places), rest)
}

/** Sets or removes the protection of a remote. @throws AppError not_found */
export function protectRemote(places: Pick<Places, 'config'>, name: string, isProtected: boolean): Remote {
  const { protected: _before, ...remote } = getRemote(places, name)
  return addRemote(places, isProtected ? { ...remote, protected: true } : remote)
}
