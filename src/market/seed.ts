import type { HistoryOutcome, PastMarket } from '../cli/door.ts'
import type { System } from '../cli/env.ts'
import { OF_DEMO } from '../cli/wallet/persona.ts'
import type { Places } from '../client/paths.ts'
import { keepApiKey } from '../client/secrets.ts'
import { createWallet, getWallet, walletNames } from '../client/wallets.ts'
import { DAY_MS } from '../core/time.ts'
import { roleNames, roles } from './cast.ts'
import { demoKey } from './hand.ts'
import { DEMO_MS, type Keys, liveDemo } from './live.ts'

type Host = {
  readonly places: Pick<Places, 'config'>
  readonly system: Pick<System, 'daemon' | 'now'>
  /** Hears which of its days is being lived. */
  readonly onDay?: (day: number, of: number) => void
}

/** Somebody of the demo whom `--as` can name. */
export type DemoPerson = { readonly wallet: string; readonly name: string; readonly type: string }
export const demoPeople: readonly DemoPerson[] = roleNames.map((wallet) => {
  const { name, type } = roles[wallet]
  return { wallet, name, type }
})

/**
 * Gives the marketplace of a data folder the history of the demo, which ends now, and this machine the wallets and
 * API keys of its people. A marketplace that has a history keeps it, and nothing changes.
 * @throws StoreLocked while its daemon runs.
 */
export async function seedDemo({ places, system, onDay }: Host, dataDir: string): Promise<HistoryOutcome> {
  const until = system.now()
  let keys: Keys = new Map()
  const { writeHistory } = await system.daemon()
  const outcome = await writeHistory({
    dataDir,
    name: 'demo',
    from: until - DEMO_MS,
    until,
    act: async (past) => {
      keys = await liveDemo(onDay === undefined ? past : counting(past, until, onDay), until)
    },
  })
  if (outcome !== 'written') return outcome
  for (const name of keys.keys()) await keepWallet(places, name, new Date(until).toISOString())
  for (const { address, key } of keys.values()) keepApiKey(places, dataDir, { wallet: address, key })
  return outcome
}

/** The same past, whose days are counted as they pass. */
function counting(past: PastMarket, until: number, onDay: (day: number, of: number) => void): PastMarket {
  const days = Math.round(DEMO_MS / DAY_MS)
  let told = 0
  return {
    ...past,
    async goTo(at) {
      const day = Math.min(days, days - Math.floor((until - at) / DAY_MS))
      if (day > told) onDay(day, days)
      told = Math.max(told, day)
      await past.goTo(at)
    },
  }
}

/** A wallet of that name which somebody has already stays theirs: the one of the demo gets another name then. */
export async function keepWallet(places: Host['places'], name: string, createdAt: string): Promise<void> {
  const names = walletNames(places)
  const isOwn = names.includes(name) && !getWallet(places, name).well_known
  const kept = isOwn ? OF_DEMO + name : name
  if (names.includes(kept)) return
  await createWallet(places, { name: kept, createdAt, privateKey: demoKey(name), active: false, wellKnown: true })
}
