import { AppError } from '../../../src/core/error.ts'
import { inBackground } from '../../kernel/background.ts'
import type { Config } from '../../kernel/config.ts'
import { shipped } from '../../kernel/shipped.ts'
import type { World } from '../../kernel/world.ts'
import { sdnSource } from '../../ports/sdn/source.ts'
import type { PublicWeb } from '../../ports/web/web.ts'
import type { Store } from '../../store/port.ts'
import { refreshSdn } from './refresh.ts'
import { openSanctions } from './sanctions.ts'

/** Fixtures lie beside the sources and beside the bundle alike. */
const sampleFile = shipped('sdn/sample.xml')

type Parts = {
  readonly store: Store
  readonly config: Config
  readonly web: PublicWeb
  readonly chain: World['chain']
  /** What tests put in the place of the list. */
  readonly isSanctioned: World['isSanctioned'] | undefined
}

type Compliance = Pick<World, 'sanctions' | 'sdnSource' | 'isSanctioned'>

/** Who may neither pay nor be paid: the list and what was added by hand, rebuilt in memory from the store. */
export async function openCompliance({ store, config, web, chain, isSanctioned }: Parts): Promise<Compliance> {
  const sanctions = await openSanctions(store)
  return {
    sanctions,
    sdnSource: sdnSource({ configured: config.sdnSource, sample: sampleFile }, web),
    isSanctioned:
      isSanctioned ??
      (async (wallet) => {
        // Only where money is real is no list a reason to refuse everybody (decisions §12).
        if (chain.mode === 'base' && sanctions.state().source === null) {
          throw new AppError('unavailable', 'No sanctions list was ever loaded: nobody can be screened.', {
            retryAfter: 60,
          })
        }
        return sanctions.has(wallet)
      }),
  }
}

/**
 * Loads the first list, or the first one of another source: a file before the first request, one that has to be
 * fetched beside the first requests. One that is refused does not keep the daemon from starting.
 */
export async function loadFirstList(world: World): Promise<void> {
  if (world.sanctions.state().source === world.sdnSource.id) return
  const load = () =>
    refreshSdn({ ...world, now: world.clock.now(), signal: world.stopping }).catch((error: unknown) => {
      world.log.error({ source: 'sdn', err: String(error) }, 'there is no list of the configured source')
    })
  if (world.sdnSource.isLocal) await load()
  else inBackground(world, 'sdn', load)
}
