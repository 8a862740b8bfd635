import type { HistoryOutcome, PastMarket } from '../cli/door.ts'
import type { System } from '../cli/env.ts'
import { OF_DEMO } from '../cli/wallet/persona.ts'
import type { Places } from '../client/paths.ts'
import { keepApiKey } from '../client/secrets.ts'
import { createWallet, getWallet, walletNames } from '../client/wallets.ts'
import { DAY_MS } from '../core/time.ts'
import type { Play } from './acts.ts'
import { createAgenda, diceOf } from './agenda.ts'
import { openCast, roleNames, roles } from './cast.ts'
import { planFinale } from './finale.ts'
import { demoKey, openSink, type Stage } from './hand.ts'
import { openStock, planWeeks } from './weeks.ts'

/** How long the history of the demo is. */
export const DEMO_MS = 98 * DAY_MS
/** The ordinary trade ends before the situations of the last days begin. */
const LAST_WEEK_MS = 8 * DAY_MS
const DICE_SEED = 20_261

/** API keys of the people, by name of their wallet. */
type Keys = ReadonlyMap<string, { readonly address: string; readonly key: string }>

/** Months of trade up to `until`, made of nothing but requests that anybody could send. */
export async function liveDemo(past: PastMarket, until: number): Promise<Keys> {
  const stage: Stage = { url: past.url, adminKey: past.adminKey, wall: past.now }
  const sink = await openSink()
  try {
    const opened = await openCast(stage, sink.url)
    const play: Play = { ...opened, agenda: createAgenda(), dice: diceOf(DICE_SEED), now: past.now, folder: past.files }
    const stock = await openStock(play)
    planWeeks(play, stock, { from: past.now() + DAY_MS, until: until - LAST_WEEK_MS })
    planFinale({ play, stock, until, stage })
    await play.agenda.run(until, past.goTo)
    await past.goTo(until)
    return new Map(Object.values(opened.cast).map(({ name, address, key }) => [name, { address, key }]))
  } finally {
    await sink.close()
  }
}

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
