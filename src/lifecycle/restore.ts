import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandContext } from '../cli/command.ts'
import { CliError, usage } from '../cli/exit.ts'
import type { Io } from '../cli/io.ts'
import { findDaemon, isLive } from '../client/discover.ts'
import { LOCAL, type Places, readSettings } from '../client/settings.ts'

type Context = Pick<CommandContext<unknown, unknown>, 'places' | 'io' | 'globals' | 'system'>

export type Restored = Awaited<ReturnType<typeof restoreFrom>>

/** Addresses of the keys that a restored marketplace needs, and its chain. */
export type NeededKeys = { readonly chain: string; readonly gas: string; readonly pay_to: string }

export function showKeys(keys: NeededKeys | null, io: Pick<Io, 'line'>): void {
  if (keys === null) return
  io.line(`  needs     two keys of ${keys.chain}, which no backup holds:`)
  io.line(`            ${keys.gas}   --gas-key-file: sends all transactions, owns the contracts`)
  io.line(`            ${keys.pay_to}   --pay-to-key-file: receives payments, signs payouts`)
}

/** Whether the data is in a database, which the daemon notes in the data folder. */
export function isInDatabase({ places }: { readonly places: Pick<Places, 'data'> }): boolean {
  return existsSync(join(places.data, 'database.json'))
}

export function hasStore(host: { readonly places: Pick<Places, 'data'> }): boolean {
  return isInDatabase(host) || existsSync(join(host.places.data, 'store', 'MANIFEST.json'))
}

/** Name or address of the instance that a command means. */
const meantBy = ({ globals, places }: Pick<Context, 'globals' | 'places'>) =>
  globals.baseUrl ?? globals.remote ?? readSettings(places).remote ?? LOCAL

export const isLocal = (context: Pick<Context, 'globals' | 'places'>): boolean => meantBy(context) === LOCAL

/** @throws CliError `usage` for a remote instance */
export function localOnly(context: Context): void {
  const meant = meantBy(context)
  if (meant === LOCAL) return
  throw usage(`This command works only on the local daemon, not on ${meant}.`, { next: ['… -r local'] })
}

/** @throws CliError `usage` for a remote instance; `conflict`, with `again` as a next step, while a daemon runs */
export async function requireStopped(host: Context, again: string): Promise<void> {
  localOnly(host)
  const found = await findDaemon(host.places)
  if (!isLive(found)) return
  const does = found.state === 'starting' ? 'is starting' : 'holds its store'
  throw new CliError('conflict', `The local daemon (pid ${found.registration.pid}) ${does}.`, {
    next: ['souk down', again],
  })
}

/** The error if demo data is added to a marketplace that already has data. */
export function demoRefused({ places }: Pick<Context, 'places'>): CliError {
  return new CliError('conflict', 'This marketplace already has data; demo data needs an empty one.', {
    facts: [`nothing was changed in ${places.data}`],
    next: ['souk up --instance demo --port 0 --seed demo'],
  })
}

export async function restoreFrom({ places, io, system }: Context, file: string) {
  const replaced = hasStore({ places })
  using _progress = io.progress(`checking ${io.path(file)} and putting it in place`)
  const { storeId, records, blobs, home } = await (await system.daemon()).replaceData(places.data, file)
  const keys = home && home.mode !== 'devnet' ? { chain: home.mode, gas: home.gas_key, pay_to: home.pay_to } : null
  return { data_dir: places.data, store_id: storeId, records, blobs, replaced, keys }
}
