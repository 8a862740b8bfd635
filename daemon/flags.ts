import type { Entropy } from '../src/core/entropy.ts'
import type { Config } from './config.ts'
import type { Clock } from './ports/clock.ts'
import { settings } from './store/collections.ts'
import { commit } from './store/draw.ts'
import { PLATFORM, platformOf, readPlatform, writePlatform } from './store/platform.ts'
import type { Row, Store } from './store/port.ts'
import type { World } from './world.ts'

type FollowedFlags = Pick<World, 'flags' | 'followFlags'> & { readonly close: () => void }
type SettingRow = Row & { readonly value: unknown }

/** The switches as last committed, followed by the change feed; the reserve transaction reads them again. */
export async function openFlags(parts: {
  store: Store
  entropy: Entropy
  config: Config
  clock: Clock
}): Promise<FollowedFlags> {
  const { store } = parts
  let version = 0
  let flags = flagsOf(undefined)
  const apply = (row: SettingRow | undefined) => {
    if (!row || row.version <= version) return
    version = row.version
    flags = flagsOf(row)
  }
  const followFlags = async () => apply(await store.table(settings).get(PLATFORM))
  const close = store.subscribe((change) => {
    const write = change.writes.find(({ collection, key }) => collection === settings.name && key === PLATFORM)
    if (write) apply(write.row as SettingRow) // the collection's rows; this one is never deleted
  })
  await applyStart(parts)
  await followFlags()
  return { flags: () => flags, followFlags, close }
}

/** What the operator asked for at start: the observed profile, or a cutover switch. */
async function applyStart({ store, entropy, config, clock }: Parameters<typeof openFlags>[0]): Promise<void> {
  const observed = config.profile === 'observed'
  if (!observed && config.checkoutV2 === undefined) return
  await commit({ store, entropy }, async (t) => {
    const { paused_at } = await readPlatform(t)
    await writePlatform(t, {
      checkout_v2: config.checkoutV2 ?? observed,
      ...(observed ? { paused_at: paused_at ?? clock.now() } : {}),
    })
  })
}

function flagsOf(row: SettingRow | undefined): ReturnType<World['flags']> {
  const platform = platformOf(row)
  return {
    paused: platform.paused_at !== null,
    pausedAt: platform.paused_at,
    checkoutV2: platform.checkout_v2,
    enabled: new Set(platform.enabled),
    termsRequired: platform.terms_required,
    namedServices: platform.named_services,
    escrowPaused: platform.escrow_paused_at !== null,
    escrowPausedAt: platform.escrow_paused_at,
  }
}
