import type { Entropy } from '../src/core/entropy.ts'
import type { Config } from './config.ts'
import type { Clock } from './ports/clock.ts'
import { settings } from './store/collections.ts'
import { commit } from './store/draw.ts'
import { type Platform, readPlatform, writePlatform } from './store/platform.ts'
import type { Store } from './store/port.ts'
import type { World } from './world.ts'

type Flags = { readonly read: World['flags']; readonly close: () => void }

/** The switches as last committed, followed by the change feed; the reserve transaction reads them again. */
export async function openFlags(parts: {
  store: Store
  entropy: Entropy
  config: Config
  clock: Clock
}): Promise<Flags> {
  const { store } = parts
  await applyStart(parts)
  let flags = flagsOf(await store.read(readPlatform))
  const close = store.subscribe((change) => {
    if (!change.writes.some((write) => write.collection === settings.name)) return
    void store.read(readPlatform).then((platform) => {
      flags = flagsOf(platform)
    })
  })
  return { read: () => flags, close }
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

function flagsOf(platform: Platform): ReturnType<World['flags']> {
  return {
    paused: platform.paused_at !== null,
    pausedAt: platform.paused_at,
    checkoutV2: platform.checkout_v2,
    enabled: new Set(platform.enabled),
    termsRequired: platform.terms_required,
  }
}
