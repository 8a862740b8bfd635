import { AppError } from '../../../src/core/error.ts'
import { type Context, inBackground } from '../../kernel/context.ts'
import { shipped } from '../../kernel/identity.ts'
import { web } from '../../kernel/web.ts'
import { sdnSource } from '../../ports/sdn/source.ts'
import { refreshSdn } from './ofac-sdn-refresh.ts'
import { type Compliance, compliance, openSanctions } from './sanctions.ts'

/** Fixtures lie beside the sources and beside the bundle alike. */
const sampleFile = shipped('sdn/sample.xml')

/**
 * Who may neither pay nor be paid: the list and what was added by hand, rebuilt in memory from the store.
 * `isSanctioned` is what tests put in the place of it.
 */
export async function openCompliance(ctx: Context, isSanctioned?: Compliance['isSanctioned']): Promise<void> {
  const { store, config, chain } = ctx
  const sanctions = await openSanctions(store)
  compliance.open(ctx, {
    list: sanctions,
    source: sdnSource({ configured: config.sdnSource, sample: sampleFile }, web.of(ctx)),
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
  })
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
