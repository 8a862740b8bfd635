import { AppError } from '../../../src/core/error.ts'
import { inBackground } from '../../kernel/background.ts'
import type { Config } from '../../kernel/config.ts'
import type { Context } from '../../kernel/context.ts'
import { shipped } from '../../kernel/shipped.ts'
import { sdnSource } from '../../ports/sdn/source.ts'
import type { PublicWeb } from '../../ports/web/web.ts'
import type { Store } from '../../store/port.ts'
import { refreshSdn } from './refresh.ts'
import { type Compliance, compliance, openSanctions } from './sanctions.ts'

/** Fixtures lie beside the sources and beside the bundle alike. */
const sampleFile = shipped('sdn/sample.xml')

type Parts = {
  readonly store: Store
  readonly config: Config
  readonly web: PublicWeb
  readonly chain: Context['chain']
  /** What tests put in the place of the list. */
  readonly isSanctioned: Compliance['isSanctioned'] | undefined
}

/** Who may neither pay nor be paid: the list and what was added by hand, rebuilt in memory from the store. */
export async function openCompliance({ store, config, web, chain, isSanctioned }: Parts): Promise<Compliance> {
  const sanctions = await openSanctions(store)
  return {
    list: sanctions,
    source: sdnSource({ configured: config.sdnSource, sample: sampleFile }, web),
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
export async function loadFirstList(ctx: Context): Promise<void> {
  if (compliance.of(ctx).list.state().source === compliance.of(ctx).source.id) return
  const load = () =>
    refreshSdn({ ...ctx, now: ctx.clock.now(), signal: ctx.stopping }).catch((error: unknown) => {
      ctx.log.error({ source: 'sdn', err: String(error) }, 'there is no list of the configured source')
    })
  if (compliance.of(ctx).source.isLocal) await load()
  else inBackground(ctx, 'sdn', load)
}
