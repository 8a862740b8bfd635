import { AppError } from '../../../src/core/error.ts'
import { type Context, inBackground } from '../../kernel/context.ts'
import { shipped } from '../../kernel/identity.ts'
import { web } from '../../kernel/web.ts'
import { sdnSource } from '../../ports/sdn/source.ts'
import { refreshSdn } from './ofac-sdn-refresh.ts'
import { type Compliance, compliance, openSanctions } from './sanctions.ts'

/** Fixtures are next to the sources, and next to the bundle. */
const sampleFile = shipped('sdn/sample.xml')

/** Wallets from the sanctions list and those that an operator added, in memory. `isSanctioned` is for tests. */
export async function openCompliance(ctx: Context, isSanctioned?: Compliance['isSanctioned']): Promise<void> {
  const { store, config, chain } = ctx
  const sanctions = await openSanctions(store)
  compliance.open(ctx, {
    list: sanctions,
    source: sdnSource({ configured: config.sdnSource, sample: sampleFile }, web.of(ctx)),
    isSanctioned:
      isSanctioned ??
      (async (wallet) => {
        // Without a list, payments are refused only if the money is real (decisions §12).
        if (chain.mode === 'base' && sanctions.state().source === null) {
          throw new AppError('unavailable', 'No sanctions list is loaded yet, so payments cannot be screened.', {
            retryAfter: 60,
          })
        }
        return sanctions.has(wallet)
      }),
  })
}

/**
 * Loads the first list, or the first of a new source. A file is read before the first request is served, a URL in the
 * background. A rejected list does not prevent the start.
 */
export async function loadFirstList(ctx: Context): Promise<void> {
  if (compliance.of(ctx).list.state().source === compliance.of(ctx).source.id) return
  const load = () =>
    refreshSdn({ ...ctx, now: ctx.clock.now(), signal: ctx.stopping }).catch((error: unknown) => {
      ctx.log.error({ source: 'sdn', err: String(error) }, 'the configured source has no list yet')
    })
  if (compliance.of(ctx).source.isLocal) await load()
  else inBackground(ctx, 'sdn', load)
}
