import type { Entropy } from '../../../src/core/hex.ts'
import { namedSlugs } from '../../../src/model/service.ts'
import type { Config } from '../../../src/model/start.ts'
import type { Context, Switched } from '../../kernel/context.ts'
import { settings } from '../../kernel/rows.ts'
import { PLATFORM, pauseOf, platformOf, readPlatform, writePlatform } from '../../kernel/switches.ts'
import type { Clock } from '../../ports/clock.ts'
import { commit } from '../../store/draw.ts'
import { type Row, type Store, writtenRow } from '../../store/port.ts'
import { followNamedOffers, type NamedOffers } from '../sales/named-services.ts'

type SettingRow = Row & { readonly value: unknown }

/** Keeps the switches in memory and updates them after commits. To reserve a payment, the store is read instead. */
export async function openSwitches(parts: {
  store: Store
  entropy: Entropy
  config: Config
  clock: Clock
}): Promise<{ readonly switches: Context['switches']; readonly close: () => void }> {
  const { store } = parts
  const offers = followNamedOffers(store)
  let held: SettingRow | undefined
  let switched = switchedOf(undefined, offers)
  const apply = (row: SettingRow | undefined) => {
    if (row && row.version > (held?.version ?? 0)) held = row
    switched = switchedOf(held, offers)
  }
  const follow = async () => {
    const row = await store.table(settings).get(PLATFORM)
    await offers.read(platformOf(row).named_services)
    apply(row)
  }
  const close = store.subscribe((change) => {
    for (const write of change.writes) {
      const row = writtenRow(settings, write)
      if (row && write.key === PLATFORM) apply(row)
    }
    if (offers.see(change)) apply(undefined)
  })
  await applyStart(parts)
  await follow()
  return { switches: { now: () => switched, follow }, close }
}

/** Applies start options to the switches: the profile `observed`, or the checkout cutover. */
async function applyStart({ store, entropy, config, clock }: Parameters<typeof openSwitches>[0]): Promise<void> {
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

/** Whether a switch counts as on. For a named path, it counts only while purchases at the path are possible. */
function isOn(name: string, offers: NamedOffers): boolean {
  return !namedSlugs.some((slug) => slug === name) || offers.sells(name)
}

function switchedOf(row: SettingRow | undefined, offers: NamedOffers): Switched {
  const platform = platformOf(row)
  return {
    paused: platform.paused_at !== null,
    ...pauseOf(platform),
    checkoutV2: platform.checkout_v2,
    enabled: new Set(platform.enabled.filter((name) => isOn(name, offers))),
    termsRequired: platform.terms_required,
    namedServices: platform.named_services,
    escrowPaused: platform.escrow_paused_at !== null,
    escrowPausedAt: platform.escrow_paused_at,
  }
}
